/**
 * Which modes of a Vorbis stream have long blocks, by its setup header. The modes are at its end, after tables of
 * variable length that have to be skipped one by one (Vorbis I, 4.2.4). Null for an invalid header.
 */
export function vorbisModes(setup: Uint8Array, channels: number): readonly boolean[] | null {
  try {
    const read = bitReader(setup.subarray(7));
    times(read(8) + 1, () => skipCodebook(read));
    times(read(6) + 1, () => expect(read(16) === 0));
    times(read(6) + 1, () => skipFloor(read));
    times(read(6) + 1, () => skipResidue(read));
    times(read(6) + 1, () => skipMapping(read, channels));
    const modes = Array.from({ length: read(6) + 1 }, () => {
      const isLong = read(1) === 1;
      expect(read(16) === 0 && read(16) === 0);
      read(8);
      return isLong;
    });
    expect(read(1) === 1);
    return modes;
  } catch (error) {
    if (error instanceof NotVorbis) return null;
    throw error;
  }
}

class NotVorbis extends Error {}

/** Reads a number of the given bits, lowest bit first. */
type ReadBits = (bits: number) => number;

function bitReader(bytes: Uint8Array): ReadBits & { skip(bits: number): void } {
  let at = 0;
  const read = (bits: number) => {
    expect(at + bits <= bytes.length * 8);
    let value = 0;
    for (let bit = 0; bit < bits; bit++, at++) {
      value += (bytes[at >> 3]! >> (at & 7) & 1) * 2 ** bit;
    }
    return value;
  };
  return Object.assign(read, { skip: (bits: number) => void (at += bits) });
}

function skipCodebook(read: ReturnType<typeof bitReader>): void {
  expect(read(24) === 0x564342);
  const dimensions = read(16);
  const entries = read(24);
  const isOrdered = read(1) === 1;
  if (isOrdered) {
    let length = read(5) + 1;
    for (let entry = 0; entry < entries; length++) {
      expect(length <= 32);
      entry += read(bitsOf(entries - entry));
    }
  } else {
    const isSparse = read(1) === 1;
    times(entries, () => void ((!isSparse || read(1) === 1) && read(5)));
  }
  const lookup = read(4);
  expect(lookup <= 2);
  if (lookup === 0) return;
  read.skip(64);
  const valueBits = read(4) + 1;
  read(1);
  const values = lookup === 1 ? rootOf(entries, dimensions) : entries * dimensions;
  read.skip(values * valueBits);
}

/** The largest integer whose power of `dimensions` is not above `entries`. */
function rootOf(entries: number, dimensions: number): number {
  expect(dimensions > 0);
  let root = Math.floor(entries ** (1 / dimensions));
  while ((root + 1) ** dimensions <= entries) root++;
  while (root > 0 && root ** dimensions > entries) root--;
  return root;
}

function skipFloor(read: ReadBits): void {
  const type = read(16);
  expect(type <= 1);
  if (type === 0) {
    for (const bits of [8, 16, 16, 6, 8]) read(bits);
    return times(read(4) + 1, () => read(8));
  }
  const partitions = Array.from({ length: read(5) }, () => read(4));
  const dimensions = Array.from({ length: Math.max(-1, ...partitions) + 1 }, () => {
    const dimension = read(3) + 1;
    const subclasses = read(2);
    if (subclasses > 0) read(8);
    times(1 << subclasses, () => read(8));
    return dimension;
  });
  read(2);
  const rangeBits = read(4);
  for (const partition of partitions) times(dimensions[partition]!, () => read(rangeBits));
}

function skipResidue(read: ReadBits): void {
  expect(read(16) <= 2);
  for (const bits of [24, 24, 24]) read(bits);
  const classifications = read(6) + 1;
  read(8);
  const cascades = Array.from({ length: classifications }, () => {
    const low = read(3);
    return read(1) === 1 ? read(5) * 8 + low : low;
  });
  for (const cascade of cascades) {
    for (let bit = 0; bit < 8; bit++) if ((cascade >> bit & 1) === 1) read(8);
  }
}

function skipMapping(read: ReadBits, channels: number): void {
  expect(read(16) === 0);
  const submaps = read(1) === 1 ? read(4) + 1 : 1;
  if (read(1) === 1) times((read(8) + 1) * 2, () => read(bitsOf(channels - 1)));
  expect(read(2) === 0);
  if (submaps > 1) times(channels, () => read(4));
  times(submaps * 3, () => read(8));
}

/** Number of bits of a value. */
export function bitsOf(value: number): number {
  return value <= 0 ? 0 : 32 - Math.clz32(value);
}

function times(count: number, work: () => unknown): void {
  for (let turn = 0; turn < count; turn++) work();
}

function expect(condition: boolean): void {
  if (!condition) throw new NotVorbis();
}
