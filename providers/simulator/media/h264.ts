/**
 * H.264 in its plainest form, for drawings that hardly move: a block (16×16 pixels) that did not change
 * is skipped, one that goes on from its neighbour is foretold from it, and any other is sent as it is
 * (I_PCM). Nothing is lost, nothing is searched for, and a second of video takes a millisecond or two.
 * Section numbers are those of ITU-T H.264.
 */

import { BitWriter } from "./bit_writer.ts";

/** A picture in 4:2:0, as large as whole blocks need. */
export interface Planes {
  readonly luma: Uint8Array;
  readonly blue: Uint8Array;
  readonly red: Uint8Array;
}

export interface EncodedFrame {
  readonly bytes: Uint8Array;
  readonly isKey: boolean;
}

const NAL = { slice: 1, key: 5, sequence: 7, picture: 8 } as const;
/** Baseline, also constrained; level 4, so that whole pictures of raw blocks fit its rates. */
const PROFILE = [66, 0xc0, 40] as const;

/** Codes of blocks in an I slice; in a P slice they come after the five of its own. */
const VERTICAL = 1;
const HORIZONTAL = 2;
const RAW = 25;
const P_SLICE_TYPES = 5;

export class H264Encoder {
  readonly columns: number;
  readonly rows: number;
  readonly sequence: Uint8Array;
  readonly picture: Uint8Array;
  /** Blocks sent raw count as full of coefficients where their neighbours are foretold (9.2.1). */
  readonly #isRaw: Uint8Array;
  #before: Planes | null = null;
  #number = 0;
  #keys = 0;

  constructor(
    readonly width: number,
    readonly height: number,
    /** Bits of a picture's number: any will do, but a decoder has to know. */
    readonly numberBits = 4,
  ) {
    this.columns = Math.ceil(width / 16);
    this.rows = Math.ceil(height / 16);
    this.#isRaw = new Uint8Array(this.columns * this.rows);
    this.sequence = sequenceParameters(this);
    this.picture = pictureParameters();
  }

  emptyPlanes(): Planes {
    const blocks = this.columns * this.rows;
    return {
      luma: new Uint8Array(blocks * 256),
      blue: new Uint8Array(blocks * 64),
      red: new Uint8Array(blocks * 64),
    };
  }

  /**
   * The next picture. Where `changed` names the blocks that may differ from the picture before, only
   * those are looked at.
   */
  encode(planes: Planes, changed: ReadonlySet<number> | null = null): EncodedFrame {
    const isKey = this.#before === null || changed === null;
    if (isKey) this.#number = 0;
    const bits = new BitWriter();
    this.#writeHeader(bits, isKey);
    this.#isRaw.fill(0);
    let skipped = 0;
    for (let block = 0; block < this.columns * this.rows; block++) {
      if (!isKey && (!changed!.has(block) || this.#isSame(planes, block))) {
        skipped++;
        continue;
      }
      if (!isKey) bits.unsigned(skipped);
      skipped = 0;
      this.#writeBlock(bits, planes, block, isKey ? 0 : P_SLICE_TYPES);
    }
    if (skipped > 0) bits.unsigned(skipped);
    bits.end();
    this.#remember(planes);
    this.#number = (this.#number + 1) % (1 << this.numberBits);
    return { bytes: unit(isKey ? NAL.key : NAL.slice, bits.bytes()), isKey };
  }

  /** Section 7.3.3. */
  #writeHeader(bits: BitWriter, isKey: boolean): void {
    bits.unsigned(0); // first block
    bits.unsigned(isKey ? 7 : 5); // I or P, and all slices of the picture alike
    bits.unsigned(0); // picture parameter set
    bits.write(this.#number, this.numberBits);
    if (isKey) {
      bits.unsigned(this.#keys++ % 2); // two keys in a row must differ
      bits.write(0, 2); // no earlier output dropped, no long-term reference
    } else {
      bits.write(0, 3); // one reference, in its usual order, no marking
    }
    bits.signed(0); // quantiser as the picture parameters have it
    bits.unsigned(1); // no deblocking: what is foretold must be exact
  }

  /** Section 7.3.5. */
  #writeBlock(bits: BitWriter, planes: Planes, block: number, offset: number): void {
    const goesOn = this.#continues(planes, block);
    if (goesOn === null) {
      this.#isRaw[block] = 1;
      bits.unsigned(RAW + offset);
      bits.align();
      this.#eachRow(block, (plane, from, length) => {
        bits.append(planes[plane].subarray(from, from + length));
      });
      return;
    }
    bits.unsigned(goesOn + offset);
    bits.unsigned(goesOn === HORIZONTAL ? 1 : 2); // the same for colour
    bits.signed(0);
    // No coefficients; how that is written depends on the neighbours' (table 9-5).
    const column = block % this.columns;
    const left = column > 0 ? this.#isRaw[block - 1]! : 0;
    const above = block >= this.columns ? this.#isRaw[block - this.columns]! : 0;
    if (left + above === 0) bits.write(1, 1);
    else bits.write(3, 6);
  }

  /** Whether the block is its left neighbour's last column, or the upper one's last row, over again. */
  #continues(planes: Planes, block: number): typeof VERTICAL | typeof HORIZONTAL | null {
    if (block % this.columns > 0) {
      let isSame = true;
      this.#eachRow(block, (plane, from, length) => {
        const pixels = planes[plane];
        const before = pixels[from - 1];
        for (let at = from; isSame && at < from + length; at++) isSame = pixels[at] === before;
      });
      if (isSame) return HORIZONTAL;
    }
    if (block < this.columns) return null;
    let isSame = true;
    this.#eachRow(block, (plane, from, length, stride) => {
      const pixels = planes[plane];
      for (let at = from; isSame && at < from + length; at++) {
        isSame = pixels[at] === pixels[at - stride];
      }
    });
    return isSame ? VERTICAL : null;
  }

  #isSame(planes: Planes, block: number): boolean {
    const before = this.#before!;
    let isSame = true;
    this.#eachRow(block, (plane, from, length) => {
      const [now, then] = [planes[plane], before[plane]];
      for (let at = from; isSame && at < from + length; at++) isSame = now[at] === then[at];
    });
    return isSame;
  }

  #eachRow(
    block: number,
    visit: (plane: keyof Planes, from: number, length: number, stride: number) => void,
  ): void {
    const [column, row] = [block % this.columns, Math.floor(block / this.columns)];
    for (const plane of ["luma", "blue", "red"] as const) {
      const side = plane === "luma" ? 16 : 8;
      const stride = this.columns * side;
      for (let line = 0; line < side; line++) {
        visit(plane, (row * side + line) * stride + column * side, side, stride);
      }
    }
  }

  #remember(planes: Planes): void {
    this.#before ??= this.emptyPlanes();
    for (const plane of ["luma", "blue", "red"] as const) this.#before[plane].set(planes[plane]);
  }
}

/** Section 7.3.2.1.1. */
function sequenceParameters(
  { width, height, columns, rows, numberBits }: H264Encoder,
): Uint8Array {
  const bits = new BitWriter();
  for (const byte of PROFILE) bits.write(byte, 8);
  bits.unsigned(0); // its id
  bits.unsigned(numberBits - 4);
  bits.unsigned(2); // pictures are shown in the order they are sent
  bits.unsigned(1); // one reference
  bits.write(0, 1); // no gaps in numbers
  bits.unsigned(columns - 1);
  bits.unsigned(rows - 1);
  bits.write(0b11, 2); // frames, not fields
  const [right, bottom] = [columns * 16 - width, rows * 16 - height];
  bits.write(right + bottom > 0 ? 1 : 0, 1);
  if (right + bottom > 0) [0, right / 2, 0, bottom / 2].forEach((cut) => bits.unsigned(cut));
  bits.write(1, 1); // how to show it (annex E):
  bits.write(0b00_1, 3); // pixels are square, and now colour
  bits.write(5, 3);
  bits.write(0b0_1, 2); // limited range, described:
  for (let code = 0; code < 3; code++) bits.write(1, 8); // BT.709
  bits.write(0b00000_1, 6); // no timing or buffers; but a limit:
  bits.write(1, 1);
  [0, 0, 0, 0, 0, 1].forEach((limit) => bits.unsigned(limit)); // nothing is reordered
  bits.end();
  return unit(NAL.sequence, bits.bytes());
}

/** Section 7.3.2.2. */
function pictureParameters(): Uint8Array {
  const bits = new BitWriter();
  bits.unsigned(0); // its id
  bits.unsigned(0); // its sequence's
  bits.write(0, 2); // variable-length codes, no fields
  [0, 0, 0].forEach((code) => bits.unsigned(code)); // one slice group, one reference
  bits.write(0, 3); // no weights
  [0, 0, 0].forEach((code) => bits.signed(code)); // quantisers
  bits.write(0b100, 3); // slices say that there is no deblocking
  bits.end();
  return unit(NAL.picture, bits.bytes());
}

/** Section 7.3.1: the type in front, and nothing inside that looks like a start code. */
function unit(type: number, payload: Uint8Array): Uint8Array {
  let zeros = 0;
  const guards: number[] = [];
  for (let at = 0; at < payload.length; at++) {
    if (zeros >= 2 && payload[at]! <= 3) {
      guards.push(at);
      zeros = 0;
    }
    zeros = payload[at] === 0 ? zeros + 1 : 0;
  }
  const bytes = new Uint8Array(1 + payload.length + guards.length);
  bytes[0] = 3 << 5 | type;
  let [from, to] = [0, 1];
  for (const guard of guards) {
    bytes.set(payload.subarray(from, guard), to);
    to += guard - from;
    bytes[to++] = 3;
    from = guard;
  }
  bytes.set(payload.subarray(from), to);
  return bytes;
}
