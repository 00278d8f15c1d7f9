/**
 * 32 bits that depend on every character of a text, evenly spread. Quick and the same on every node; no secret, and no
 * protection against texts that were made to collide.
 */
export function hashText(text: string, seed = 0): number {
  return hashRange(text, 0, text.length, seed);
}

/** The same for a part of a text, without a copy of it. */
export function hashRange(text: string, start: number, end: number, seed: number): number {
  // FNV-1a.
  let hash = 0x811c9dc5 ^ seed;
  for (let at = start; at < end; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  // The last steps of MurmurHash3: texts that differ in one character differ in half of the bits.
  hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35);
  return (hash ^ hash >>> 16) >>> 0;
}
