import { concatBytes } from "../bytes.ts";
/** Longer than any frame header. */
const HEADER_BYTES_MAX = 16;
/** Bytes inside of a frame look like another frame header by chance about once in 50 MB. */
const FALSE_HEADERS_MAX = 2;

const BLOCK_SIZES = [0, 192, 576, 1152, 2304, 4608, 0, 0]
  .concat([256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768]);
const SAMPLE_RATES = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000]
  .concat([44_100, 48_000, 96_000]);

interface Frame {
  /** Of the frame, or of its first sample where blocks differ in size. */
  number: number;
  hasVariableSize: boolean;
  samples: number;
  channels: number;
  /** 0: as the file says at its start. */
  sampleRate: number;
}

/**
 * Duration of a FLAC by its frames: the sample count at its start may be wrong, and players decode all frames. Null
 * where frames are missing or out of order, or where the file contains other data.
 */
export async function flacSeconds(chunks: AsyncIterable<Uint8Array>): Promise<number | null> {
  const counter = new FrameCounter();
  for await (const chunk of chunks) {
    if (!counter.add(chunk)) return null;
  }
  return counter.end();
}

class FrameCounter {
  #bytes = new Uint8Array();
  #skip = 0;
  #isInFrames = false;
  #isMarked = false;
  #fileRate = 0;
  #seconds = 0;
  #falseHeaders = 0;
  #last: Frame | null = null;
  /** Bytes since the last frame began. */
  #since = 0;

  /** False when the duration cannot be determined. */
  add(chunk: Uint8Array): boolean {
    this.#bytes = concatBytes([this.#bytes, chunk]);
    if (!this.#isInFrames && !this.#readStart()) return false;
    return !this.#isInFrames || this.#scan(this.#bytes.length - HEADER_BYTES_MAX);
  }

  end(): number | null {
    if (!this.#isInFrames || !this.#scan(this.#bytes.length)) return null;
    const isWhole = this.#last !== null && this.#since <= bytesMax(this.#last);
    return isWhole ? this.#seconds : null;
  }

  /** Skips the marker and the metadata blocks. */
  #readStart(): boolean {
    let at = 0;
    const bytes = this.#bytes;
    while (true) {
      const passed = Math.min(this.#skip, bytes.length - at);
      at += passed;
      this.#skip -= passed;
      if (this.#skip > 0 || bytes.length - at < 42) break;
      if (!this.#isMarked) {
        if (String.fromCharCode(...bytes.subarray(0, 4)) !== "fLaC") return false;
        this.#isMarked = true;
        at += 4;
      }
      const kind = bytes[at]! & 0x7f;
      if (kind === 0) {
        this.#fileRate = bytes[at + 14]! << 12 | bytes[at + 15]! << 4 | bytes[at + 16]! >> 4;
      }
      this.#skip = 4 + (bytes[at + 1]! << 16 | bytes[at + 2]! << 8 | bytes[at + 3]!);
      if ((bytes[at]! & 0x80) !== 0) {
        this.#isInFrames = true;
        break;
      }
    }
    this.#bytes = bytes.slice(at);
    return true;
  }

  /** Counts frames that begin before `end`. */
  #scan(end: number): boolean {
    const bytes = this.#bytes;
    let at = Math.min(this.#skip, bytes.length);
    this.#skip -= at;
    let counted = at;
    while (at < end) {
      const found = bytes.indexOf(0xff, at);
      if (found === -1 || found >= end) break;
      const frame = readFrame(bytes, found);
      if (frame !== null) {
        this.#since += found - counted;
        counted = found;
        if (!this.#count(frame)) return false;
      }
      at = found + 1;
    }
    const passed = Math.max(counted, Math.min(end, bytes.length));
    this.#since += passed - counted;
    this.#bytes = bytes.slice(passed);
    return true;
  }

  #count(frame: Frame): boolean {
    const last = this.#last;
    if (last !== null) {
      const next = last.number + (last.hasVariableSize ? last.samples : 1);
      const follows = frame.hasVariableSize === last.hasVariableSize && frame.number === next;
      if (!follows) return ++this.#falseHeaders <= FALSE_HEADERS_MAX;
      // A less strict player may decode the bytes between frames.
      if (this.#since > bytesMax(last)) return false;
    }
    const rate = frame.sampleRate || this.#fileRate;
    if (rate === 0) return false;
    this.#seconds += frame.samples / rate;
    this.#last = frame;
    this.#since = 0;
    return true;
  }
}

/** No frame is larger than its uncompressed samples. */
function bytesMax({ samples, channels }: Frame): number {
  return samples * channels * 4 + samples + 256;
}

/** A frame header; null where the checksum does not match. */
function readFrame(bytes: Uint8Array, at: number): Frame | null {
  const [second = 0, third = 0, fourth = 0, fifth = 0] = bytes.subarray(at + 1, at + 5);
  const sizeCode = third >> 4;
  const rateCode = third & 15;
  const channelCode = fourth >> 4;
  const isHead = (second & 0xfe) === 0xf8 && sizeCode !== 0 && rateCode !== 15 &&
    channelCode <= 10 && (fourth & 1) === 0;
  if (!isHead) return null;
  // Encoded like UTF-8, with up to seven bytes.
  const more = fifth < 0x80 ? 0 : Math.clz32(~(fifth << 24)) - 1;
  if (fifth >= 0x80 && (more < 1 || more > 6)) return null;
  let number = more === 0 ? fifth : fifth & (0x3f >> more);
  let end = at + 5;
  for (; end < at + 5 + more; end++) number = number * 64 + ((bytes[end] ?? 0) & 0x3f);
  const wide = (count: number) => {
    let value = 0;
    for (const stop = end + count; end < stop; end++) value = value * 256 + (bytes[end] ?? 0);
    return value;
  };
  const samples = sizeCode === 6
    ? wide(1) + 1
    : sizeCode === 7
    ? wide(2) + 1
    : BLOCK_SIZES[sizeCode]!;
  const sampleRate = rateCode === 12
    ? wide(1) * 1000
    : rateCode === 13
    ? wide(2)
    : rateCode === 14
    ? wide(2) * 10
    : SAMPLE_RATES[rateCode]!;
  if (end >= bytes.length || crc8(bytes, at, end) !== bytes[end]) return null;
  const channels = channelCode < 8 ? channelCode + 1 : 2;
  return { number, hasVariableSize: (second & 1) === 1, samples, channels, sampleRate };
}

function crc8(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0;
  for (let at = from; at < to; at++) {
    crc ^= bytes[at]!;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x80) === 0 ? crc << 1 : (crc << 1 ^ 7) & 0xff;
  }
  return crc;
}
