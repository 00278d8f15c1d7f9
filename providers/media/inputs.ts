import type { MediaInput } from "../../src/upstream/media_adapter.ts";

/** An input as expressions can read it: without its bytes. */
export interface InputHandle {
  readonly role: MediaInput["role"];
  readonly mime_type: string;
  readonly filename: string;
  readonly url: string | undefined;
}

/** Finds the input of a handle that an expression returns. */
const INPUTS = new WeakMap<object, MediaInput>();

export function handleOf(input: MediaInput): InputHandle {
  const { role, mimeType, filename, url } = input;
  const handle = { role, mime_type: mimeType, filename, url: url ?? undefined };
  INPUTS.set(handle, input);
  return handle;
}

export function inputOf(handle: unknown): MediaInput | null {
  return typeof handle === "object" && handle !== null ? INPUTS.get(handle) ?? null : null;
}

export function bytesOf({ bytes, role }: MediaInput): Uint8Array<ArrayBuffer> {
  if (bytes === null) throw new TypeError(`the ${role} input has no bytes`);
  return bytes;
}

/** `$source(input)`: its URL, or a data URL where it has none. */
export function asSource(handle: unknown): unknown {
  return each(handle, (input) => input.url ?? dataUrl(input));
}

/** `$data_url(input)`. */
export function asDataUrl(handle: unknown): unknown {
  return each(handle, dataUrl);
}

/** `$base64(input)`. */
export function asBase64(handle: unknown): unknown {
  return each(handle, (input) => bytesOf(input).toBase64());
}

function dataUrl(input: MediaInput): string {
  return `data:${input.mimeType};base64,${bytesOf(input).toBase64()}`;
}

/** Converts one input, or each input of an array. */
function each(handle: unknown, convert: (input: MediaInput) => string): unknown {
  if (handle === undefined) return undefined;
  if (Array.isArray(handle)) return handle.map((one) => each(one, convert));
  const input = inputOf(handle);
  if (input === null) throw new TypeError("expected an input");
  return convert(input);
}
