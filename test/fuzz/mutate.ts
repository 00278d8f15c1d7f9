import type { Random } from "./random.ts";

const encoder = new TextEncoder();
const BYTES_MAX = 256 * 1024;
const RUN_MAX = 64 * 1024;
/** Bytes at the edges of what parsers tell apart. */
const EDGES = [0, 1, 9, 10, 13, 32, 34, 45, 47, 58, 59, 61, 63, 92, 127, 128, 192, 239, 255];

type Mutator = (bytes: Uint8Array, random: Random, mutation: Mutation) => Uint8Array;

export interface Mutation {
  corpus: readonly Uint8Array[];
  /** Words of the format, to be put anywhere. */
  tokens?: readonly (string | Uint8Array)[];
}

/** A kept input with one to eight changes. */
export function mutate(random: Random, mutation: Mutation): Uint8Array {
  let bytes: Uint8Array = random.pick(mutation.corpus).slice();
  for (let changes = 1 + random.size(7); changes > 0; changes--) {
    bytes = random.pick(MUTATORS)(bytes, random, mutation);
    if (bytes.length > BYTES_MAX) bytes = bytes.slice(0, BYTES_MAX);
  }
  return bytes;
}

const MUTATORS: readonly Mutator[] = [
  flipBit,
  setEdge,
  insertNoise,
  insertToken,
  insertToken,
  repeatStretch,
  removeStretch,
  truncate,
  splice,
  copyStretch,
];

function flipBit(bytes: Uint8Array, random: Random): Uint8Array {
  if (bytes.length > 0) bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
  return bytes;
}

function setEdge(bytes: Uint8Array, random: Random): Uint8Array {
  if (bytes.length > 0) bytes[random.below(bytes.length)] = random.pick(EDGES);
  return bytes;
}

function insertNoise(bytes: Uint8Array, random: Random): Uint8Array {
  return insert(bytes, random.below(bytes.length + 1), random.bytes(random.size(64)));
}

function insertToken(bytes: Uint8Array, random: Random, { tokens = [] }: Mutation): Uint8Array {
  if (tokens.length === 0) return insertNoise(bytes, random);
  return insert(bytes, random.below(bytes.length + 1), toBytes(random.pick(tokens)));
}

/** A long run of one short stretch: what a pattern or a loop worse than linear shows itself on. */
function repeatStretch(bytes: Uint8Array, random: Random, { tokens = [] }: Mutation): Uint8Array {
  const at = random.below(bytes.length + 1);
  const stretch = tokens.length > 0 && random.oneIn(2)
    ? toBytes(random.pick(tokens))
    : bytes.slice(at, at + 1 + random.size(16));
  if (stretch.length === 0) return bytes;
  const times = 1 + random.size(Math.floor(RUN_MAX / stretch.length));
  const run = new Uint8Array(stretch.length * times);
  for (let turn = 0; turn < times; turn++) run.set(stretch, turn * stretch.length);
  return insert(bytes, at, run);
}

function removeStretch(bytes: Uint8Array, random: Random): Uint8Array {
  const from = random.below(bytes.length + 1);
  return joined([bytes.slice(0, from), bytes.slice(from + random.size(bytes.length - from))]);
}

function truncate(bytes: Uint8Array, random: Random): Uint8Array {
  return bytes.slice(0, random.below(bytes.length + 1));
}

/** The beginning of this one, the end of another. */
function splice(bytes: Uint8Array, random: Random, { corpus }: Mutation): Uint8Array {
  const other = random.pick(corpus);
  return joined([
    bytes.slice(0, random.below(bytes.length + 1)),
    other.slice(random.below(other.length + 1)),
  ]);
}

function copyStretch(bytes: Uint8Array, random: Random): Uint8Array {
  const from = random.below(bytes.length + 1);
  const stretch = bytes.slice(from, from + random.size(256));
  return insert(bytes, random.below(bytes.length + 1), stretch);
}

function insert(bytes: Uint8Array, at: number, more: Uint8Array): Uint8Array {
  return joined([bytes.slice(0, at), more, bytes.slice(at)]);
}

function toBytes(token: string | Uint8Array): Uint8Array {
  return typeof token === "string" ? encoder.encode(token) : token;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
