import type { MediaKind } from "./files.ts";

/** What can be told of a file without decoding it. */
export interface MediaFacts {
  width: number | null;
  height: number | null;
  durationMs: number | null;
}

export const UNKNOWN_MEDIA: MediaFacts = { width: null, height: null, durationMs: null };

export interface MediaBytes {
  kind: MediaKind;
  mimeType: string;
  bytes: number;
  /** The first bytes. */
  head: Uint8Array;
}

/** A positive whole number that the database can hold, or nothing. */
export function whole(value: number | null | undefined): number | null {
  const rounded = Math.round(value ?? 0);
  return rounded > 0 && rounded < 2 ** 31 ? rounded : null;
}
