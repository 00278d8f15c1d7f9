import type { MediaFile } from "../../lib/media_duration/media_duration.ts";
import type { MediaKind } from "./files.ts";

/** Size and duration of a file, found without decoding it. */
export interface MediaFacts {
  width: number | null;
  height: number | null;
  durationMs: number | null;
}

export const UNKNOWN_MEDIA: MediaFacts = { width: null, height: null, durationMs: null };

/** A file to probe. */
export interface MediaBytes extends MediaFile {
  readonly kind: MediaKind;
}

/** Rounded to a positive integer that the database can store; null for others. */
export function whole(value: number | null | undefined): number | null {
  const rounded = Math.round(value ?? 0);
  return rounded > 0 && rounded < 2 ** 31 ? rounded : null;
}
