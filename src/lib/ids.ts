/**
 * Ids that people can tell apart by prefix and that sort by creation: 48 bits of time, 80 of chance,
 * in Crockford's base 32 (no i, l, o, u), as ULIDs have it.
 */
export type IdPrefix =
  | "req"
  | "acc"
  | "key"
  | "node"
  | "adm"
  | "aud"
  | "grant"
  | "per"
  | "we"
  | "whs"
  | "evt"
  | "task"
  | "file"
  | "rsv";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const POOL_BYTES = 4096;
const pool = new Uint8Array(POOL_BYTES);
let poolAt = POOL_BYTES;

/** Every pair of digits, so that ten bits are one look-up. */
const PAIRS = Array.from({ length: 1024 }, (_, at) => ALPHABET[at >> 5]! + ALPHABET[at & 31]!);

/** 40 random bits in eight digits. Random bytes come a page at a time: one system call for 400 ids. */
function randomEight(): string {
  if (poolAt + 5 > POOL_BYTES) {
    crypto.getRandomValues(pool);
    poolAt = 0;
  }
  const [a, b, c, d, e] = [
    pool[poolAt]!,
    pool[poolAt + 1]!,
    pool[poolAt + 2]!,
    pool[poolAt + 3]!,
    pool[poolAt + 4]!,
  ];
  poolAt += 5;
  return PAIRS[a << 2 | b >> 6]! + PAIRS[(b & 63) << 4 | c >> 4]! + PAIRS[(c & 15) << 6 | d >> 2]! +
    PAIRS[(d & 3) << 8 | e]!;
}

let lastMs = -1;
let lastTime = "";

function timeDigits(ms: number): string {
  let text = "";
  for (let digit = 0; digit < 10; digit++) {
    text = ALPHABET[ms % 32]! + text;
    ms = Math.floor(ms / 32);
  }
  return text;
}

export function newId(prefix: IdPrefix, now: number = Date.now()): string {
  if (now !== lastMs) {
    lastMs = now;
    lastTime = timeDigits(now);
  }
  return `${prefix}_${lastTime}${randomEight()}${randomEight()}`;
}

/** What the ids of a moment begin with. Ids of earlier moments sort before it, all others after it. */
export function idPrefixAt(prefix: string, ms: number): string {
  return `${prefix}_${timeDigits(ms)}`;
}

/** The value of each digit by its character code; others have none. */
const VALUES = new Int8Array(128).fill(-1);
for (const [value, digit] of [...ALPHABET].entries()) VALUES[digit.charCodeAt(0)] = value;
const TIME_DIGITS = 10;
const ID_DIGITS = 26;
/** The last moment that is written with a year of four digits, as Postgres reads it. */
const TIME_MAX = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** The time in an id, in milliseconds; null for a text that is no id. */
export function timeOfId(id: string): number | null {
  const at = digitsAt(id);
  if (at === 0 || id.length !== at + ID_DIGITS) return null;
  for (let digit = at + TIME_DIGITS; digit < id.length; digit++) {
    if (valueAt(id, digit) === -1) return null;
  }
  return timeAt(id, at);
}

/** The time that an id begins with, in milliseconds, whatever follows it; null where there is none. */
export function timeOfIdPrefix(id: string): number | null {
  const at = digitsAt(id);
  return at === 0 ? null : timeAt(id, at);
}

/** Where the digits begin, after letters and an underscore; 0 where they do not. */
function digitsAt(id: string): number {
  const at = id.indexOf("_") + 1;
  for (let letter = 0; letter < at - 1; letter++) {
    const code = id.charCodeAt(letter);
    if (code < 97 || code > 122) return 0;
  }
  return at > 1 ? at : 0;
}

function timeAt(id: string, at: number): number | null {
  let ms = 0;
  for (let digit = at; digit < at + TIME_DIGITS; digit++) {
    const value = valueAt(id, digit);
    if (value === -1) return null;
    ms = ms * 32 + value;
  }
  return ms <= TIME_MAX ? ms : null;
}

function valueAt(id: string, at: number): number {
  return VALUES[id.charCodeAt(at)] ?? -1;
}

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** 256 random bits as 43 letters and digits: no character that breaks a double-click or a shell. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  let value = 0n;
  for (const byte of bytes) value = value * 256n + BigInt(byte);
  let text = "";
  for (let i = 0; i < 43; i++) {
    text = BASE62[Number(value % 62n)]! + text;
    value /= 62n;
  }
  return text;
}
