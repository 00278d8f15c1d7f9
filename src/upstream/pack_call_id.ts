import { Buffer } from "node:buffer";

/**
 * Tool call ids as few bytes, and bytes as letters and digits. Both packings must stay as they are: ids that
 * clients keep were made with them.
 */

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Alphabets that ids are written in, the densest first. Any other id is taken byte by byte. */
const ALPHABETS = ["0123456789abcdef", BASE62, `${BASE62}_-.:`];
const BYTES = ALPHABETS.length;
/** How ids begin; the longest that fits is used, and only the rest is packed. New ones go to the end. */
const PREFIXES = [
  ...["", "call_", "toolu_", "toolu_01", "toolu_bdrk_01", "toolu_vrtx_01", "tooluse_"],
  ...["chatcmpl-tool-", "functions.", "call_00_", "call_function_", "function-call-", "fc_", "fc-"],
];

/** The id in a multiple of `blockBytes`. */
export function packId(id: string, blockBytes: number): Buffer {
  const prefix = prefixOf(id);
  const rest = id.slice(PREFIXES[prefix]!.length);
  const found = ALPHABETS.findIndex((letters) => isIn(letters, rest));
  const alphabet = found === -1 ? BYTES : found;
  // The leading one keeps zeros in front.
  const number = alphabet === BYTES
    ? BigInt(`0x01${Buffer.from(rest, "utf8").toString("hex")}`)
    : toNumber(ALPHABETS[alphabet]!, rest, 1n);
  const hex = number.toString(16);
  const bytes = 1 + Math.ceil(hex.length / 2);
  const size = Math.ceil(bytes / blockBytes) * blockBytes;
  const packed = Buffer.from(hex.padStart(size * 2, "0"), "hex");
  packed[0] = prefix * (BYTES + 1) + alphabet;
  return packed;
}

export function unpackId(packed: Uint8Array): string {
  const alphabet = packed[0]! % (BYTES + 1);
  const prefix = PREFIXES[Math.floor(packed[0]! / (BYTES + 1))] ?? "";
  const hex = Buffer.from(packed.subarray(1)).toString("hex");
  if (alphabet === BYTES) {
    const digits = hex.slice(hex.indexOf("01") + 2);
    return prefix + Buffer.from(digits, "hex").toString("utf8");
  }
  const letters = ALPHABETS[alphabet]!;
  return prefix + toLetters(letters, BigInt(`0x${hex}`)).slice(1);
}

/** How many letters and digits so many bytes take. */
export function charactersOf(bytes: number): number {
  return Math.ceil(bytes * 8 / Math.log2(BASE62.length));
}

export function bytesToId(bytes: Uint8Array): string {
  const number = BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
  return toLetters(BASE62, number).padStart(charactersOf(bytes.length), BASE62[0]);
}

/** Null where the text stands for more than so many bytes. */
export function idToBytes(text: string, bytes: number): Buffer | null {
  const hex = toNumber(BASE62, text, 0n).toString(16);
  return hex.length > bytes * 2 ? null : Buffer.from(hex.padStart(bytes * 2, "0"), "hex");
}

function prefixOf(id: string): number {
  let longest = 0;
  for (let at = 1; at < PREFIXES.length; at++) {
    if (PREFIXES[at]!.length > PREFIXES[longest]!.length && id.startsWith(PREFIXES[at]!)) {
      longest = at;
    }
  }
  return longest;
}

function isIn(letters: string, text: string): boolean {
  for (const letter of text) if (!letters.includes(letter)) return false;
  return true;
}

/** Digits that are worked on at once, in numbers that are exact: most of the cost is in the big ones. */
const STEP = 5;

function toNumber(letters: string, text: string, start: bigint): bigint {
  const base = letters.length;
  let number = start;
  for (let from = 0; from < text.length; from += STEP) {
    const to = Math.min(text.length, from + STEP);
    let step = 0;
    for (let at = from; at < to; at++) step = step * base + letters.indexOf(text[at]!);
    number = number * BigInt(base ** (to - from)) + BigInt(step);
  }
  return number;
}

function toLetters(letters: string, number: bigint): string {
  const base = letters.length;
  const big = BigInt(base ** STEP);
  let text = "";
  for (let rest = number; rest > 0n; rest /= big) {
    let step = Number(rest % big);
    for (let digit = 0; digit < STEP; digit++) {
      text = letters[step % base] + text;
      step = Math.floor(step / base);
    }
  }
  let zeros = 0;
  while (text[zeros] === letters[0]) zeros++;
  return text.slice(zeros);
}
