import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { concatBytes } from "../lib/bytes.ts";
import type { UpstreamResponse } from "./exchange.ts";
import { UpstreamFailure } from "./failure.ts";
import { InvalidResponse } from "./http1/head.ts";

const DECODERS: Readonly<Record<string, typeof gunzip.__promisify__>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};
const decoder = new TextDecoder();

type Unread = Pick<UpstreamResponse, "body" | "coding">;

/** Reads a body to its end as text, and no further than `max` bytes. */
export async function readText(response: Unread, max: number): Promise<string> {
  return decoder.decode(await readBytes(response, max));
}

/** The same, as bytes. Encoded bodies are decoded: the response of a paid job must not be lost. */
export async function readBytes(
  { body, coding }: Unread,
  max: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (let piece = await body.read(); piece !== null; piece = await body.read()) {
    length += piece.length;
    if (length > max) {
      body.cancel();
      throw new UpstreamFailure("unreadable", "the reply is too large");
    }
    // Copied: the buffer is reused by the next read.
    pieces.push(piece.slice() as Uint8Array<ArrayBuffer>);
  }
  const bytes = pieces.length === 1 ? pieces[0]! : concatBytes(pieces);
  return coding === undefined || bytes.length === 0 ? bytes : await decode(bytes, coding, max);
}

async function decode(
  bytes: Uint8Array<ArrayBuffer>,
  coding: string,
  max: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const name = coding.trim().toLowerCase();
  if (name === "identity") return bytes;
  const decoded = DECODERS[name];
  if (decoded === undefined) {
    throw new InvalidResponse(`the response has the content encoding ${name}`);
  }
  return new Uint8Array(await decoded(bytes, { maxOutputLength: max }));
}
