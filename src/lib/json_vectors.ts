import { Buffer } from "node:buffer";
import { sleep } from "./timers.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A JSON text whose vectors were taken out. */
export interface LiftedVectors {
  /** The rest: each vector is replaced by its place in `vectors`. */
  readonly json: string;
  /** The JSON text of each vector, brackets or quotes included; parts of the given bytes. */
  readonly vectors: readonly Bytes[];
}

/** After so many bytes of vectors other work gets its turn. */
const PAUSE_BYTES = 1024 * 1024;
const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN = 0x5b;
const CLOSE = 0x5d;

/**
 * Takes the lists and strings of one field out of a JSON text, without parsing them: what remains is small, however long
 * the vectors are. The text of a vector is checked by `countFloats` or `countBase64Floats`.
 */
export async function liftVectors(bytes: Bytes, field: string): Promise<LiftedVectors> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const name = JSON.stringify(field);
  const rest: string[] = [];
  const vectors: Bytes[] = [];
  const pause = new Pauses();
  let kept = 0;
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const start = valueAfter(text, at + name.length);
    if (start === null) continue;
    // The method of plain arrays is the faster one for single bytes.
    const end = bytes.indexOf(text[start] === OPEN ? CLOSE : QUOTE, start + 1) + 1;
    if (end === 0) break;
    rest.push(text.toString("utf8", kept, start), String(vectors.length));
    vectors.push(bytes.subarray(start, end));
    kept = at = end;
    if (pause.isDue(end - start)) await sleep(0);
  }
  rest.push(text.toString("utf8", kept));
  return { json: rest.join(""), vectors };
}

/** Says when work on many bytes is to let other work go on. */
export class Pauses {
  #left = PAUSE_BYTES;

  isDue(bytes: number): boolean {
    this.#left -= bytes;
    if (this.#left > 0) return false;
    this.#left = PAUSE_BYTES;
    return true;
  }
}

/** Where the list or string begins that follows a field's name; null where it was not the name of such a field. */
function valueAfter(text: Bytes, at: number): number | null {
  const colon = skipSpace(text, at);
  if (text[colon] !== COLON) return null;
  const start = skipSpace(text, colon + 1);
  return text[start] === OPEN || text[start] === QUOTE ? start : null;
}

function skipSpace(text: Bytes, from: number): number {
  let at = from;
  while (isSpace(text[at])) at++;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

export function isList(vector: Bytes): boolean {
  return vector[0] === OPEN;
}

const NUMBER = 1;
const SPACE = 2;
const COMMA = 3;
/** What each byte is in a list of numbers; 0: it does not belong there. */
const CLASSES = new Uint8Array(256);
for (const letter of "0123456789+-.eE") CLASSES[letter.charCodeAt(0)] = NUMBER;
for (const letter of " \n\r\t") CLASSES[letter.charCodeAt(0)] = SPACE;
CLASSES[0x2c] = COMMA;

/** How many numbers a list has. Throws if it is anything but a list of numbers, such as one with NaN. */
export function countFloats(vector: Bytes): number {
  let count = 0;
  /** What was read last: a comma, as before the first number; a number; or white space after a number. */
  let last = COMMA;
  const end = vector.length - 1;
  for (let at = 1; at < end; at++) {
    const kind = CLASSES[vector[at]!]!;
    // In the middle of a number, which is most of the bytes.
    if (kind === NUMBER && last === NUMBER) continue;
    if (kind === SPACE) {
      if (last === NUMBER) last = SPACE;
    } else if (kind === NUMBER && last === COMMA) {
      count++;
      last = NUMBER;
    } else if (kind === COMMA && last !== COMMA) last = COMMA;
    else throw new TypeError("the vector is not a list of numbers");
  }
  if (last === COMMA) throw new TypeError("the vector has no number at its end");
  return count;
}

const BASE64 = /^"([A-Za-z0-9+/]+={0,2})"$/;

/** How many 32-bit floats a string of base64 has. Throws if it is no such string. */
export function countBase64Floats(vector: Bytes): number {
  const [, encoded] = BASE64.exec(latin1(vector)) ?? [];
  const isWhole = encoded !== undefined && encoded.length % 4 === 0;
  const bytes = isWhole ? Buffer.byteLength(encoded, "base64") : 1;
  if (bytes % 4 !== 0) throw new TypeError("the vector is not base64 of 32-bit floats");
  return bytes / 4;
}

/** A list of numbers as the base64 of its 32-bit floats, little-endian, in quotes. */
export function toBase64Floats(vector: Bytes): Bytes {
  const numbers: readonly number[] = JSON.parse(latin1(vector));
  const bytes = Buffer.alloc(numbers.length * 4);
  for (let at = 0; at < numbers.length; at++) bytes.writeFloatLE(numbers[at]!, at * 4);
  return new TextEncoder().encode(`"${bytes.toString("base64")}"`);
}

function latin1(vector: Bytes): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("latin1");
}
