import { type MediaFacts, whole } from "./media_facts.ts";

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const IHDR = 0x49484452;
const IDAT = 0x49444154;
const ACTL = 0x6163544c;

/**
 * The type and size of a PNG by its first bytes. Both are in fixed places: unlike the formats that the parsers read in
 * a process of their own, it needs no more than one pass. Null for other bytes and for a PNG that is not as usual.
 */
export function sniffPng(head: Uint8Array): { name: string; facts: MediaFacts } | null {
  if (head.length < 24 || SIGNATURE.some((byte, at) => head[at] !== byte)) return null;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (view.getUint32(12) !== IHDR) return null;
  const facts = {
    width: whole(view.getUint32(16)),
    height: whole(view.getUint32(20)),
    durationMs: null,
  };
  // An animation says so before its first image data. A chunk: length, name, data, checksum.
  for (let at = SIGNATURE.length; at + 8 <= head.length;) {
    const name = view.getUint32(at + 4);
    if (name === IDAT) return { name: "image/png", facts };
    if (name === ACTL) return { name: "image/apng", facts };
    at += 12 + view.getUint32(at);
  }
  return null;
}
