import { concatBytes } from "../../lib/bytes.ts";
/** Sounds that are nothing but frames, one after the other: their length is written nowhere. */
export type FrameFormat = "mp3" | "adts";

interface Frame {
  length: number;
  seconds: number;
}

/** Longer than any frame and the head of the next. */
const LOOK_AHEAD_BYTES = 16 * 1024;

/** Tags at the end and such; with more that is no frame, there may be sound in it that players find. */
const STRANGE_BYTES_MAX = 4 * 1024;
const STRANGE_PART_MAX = 0.01;

/**
 * How long a sound lasts, by its frames: what a head at the start claims does not count, so that nobody
 * can make a sound look shorter than it is. Null where that cannot be told.
 */
export async function countSeconds(
  chunks: AsyncIterable<Uint8Array>,
  format: FrameFormat,
): Promise<number | null> {
  const read = format === "mp3" ? readMp3Head : readAdtsHead;
  let bytes = new Uint8Array();
  let skip = 0;
  let seconds = 0;
  let framed = 0;
  let strange = 0;
  let isFirst = true;
  /** Whether a frame has just ended where we are. */
  let isInStep = false;
  const walk = (end: number) => {
    let at = 0;
    while (at < end) {
      const frame = read(bytes, at);
      // Four bytes that look like a head come by chance; a head where the frame ends does not.
      if (frame !== null && (isInStep || read(bytes, at + frame.length) !== null)) {
        seconds += frame.seconds;
        framed += frame.length;
        at += frame.length;
        isInStep = true;
      } else {
        at++;
        strange++;
        isInStep = false;
      }
    }
    skip = at - bytes.length;
    bytes = bytes.slice(Math.min(at, bytes.length));
  };
  for await (const chunk of chunks) {
    bytes = concatBytes([bytes, chunk]);
    if (isFirst && bytes.length >= 10) {
      isFirst = false;
      skip = id3Length(bytes);
    }
    if (skip > 0) {
      const passed = Math.min(skip, bytes.length);
      bytes = bytes.slice(passed);
      skip -= passed;
    }
    if (bytes.length > LOOK_AHEAD_BYTES) walk(bytes.length - LOOK_AHEAD_BYTES);
  }
  walk(bytes.length);
  return strange > Math.max(STRANGE_BYTES_MAX, framed * STRANGE_PART_MAX) ? null : seconds;
}

/** Kilobits per second by index: MPEG 1 layer III, and the lower sampling rates of MPEG 2. */
const BIT_RATES = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const MP3_RATES = [44_100, 48_000, 32_000] as const;

function readMp3Head(bytes: Uint8Array, at: number): Frame | null {
  if (bytes[at] !== 0xff) return null;
  const [second = 0, third = 0] = [bytes[at + 1], bytes[at + 2]];
  const version = second >> 3 & 3;
  const bitRate = BIT_RATES[version === 3 ? 0 : 1][third >> 4];
  const baseRate = MP3_RATES[third >> 2 & 3];
  const isLayer3 = (second & 0xe6) === 0xe2;
  if (!isLayer3 || version === 1 || !bitRate || baseRate === undefined) return null;
  const rate = version === 3 ? baseRate : version === 2 ? baseRate / 2 : baseRate / 4;
  const samples = version === 3 ? 1152 : 576;
  const length = Math.floor(samples / 8 * bitRate * 1000 / rate) + (third >> 1 & 1);
  return { length, seconds: samples / rate };
}

const ADTS_RATES = [
  96_000,
  88_200,
  64_000,
  48_000,
  44_100,
  32_000,
  24_000,
  22_050,
  16_000,
  12_000,
  11_025,
  8_000,
  7_350,
] as const;
const ADTS_HEAD_BYTES = 7;

function readAdtsHead(bytes: Uint8Array, at: number): Frame | null {
  if (bytes[at] !== 0xff || ((bytes[at + 1] ?? 0) & 0xf6) !== 0xf0) return null;
  const [third = 0, fourth = 0, fifth = 0, sixth = 0, seventh = 0] = bytes.subarray(at + 2, at + 7);
  const rate = ADTS_RATES[third >> 2 & 15];
  const length = (fourth & 3) << 11 | fifth << 3 | sixth >> 5;
  if (rate === undefined || length < ADTS_HEAD_BYTES) return null;
  return { length, seconds: 1024 * ((seventh & 3) + 1) / rate };
}

/** Of the tag before the first frame, with a cover picture perhaps. */
function id3Length(bytes: Uint8Array): number {
  if (bytes[0] !== 0x49 || bytes[1] !== 0x44 || bytes[2] !== 0x33) return 0;
  return 10 + (bytes[6]! << 21 | bytes[7]! << 14 | bytes[8]! << 7 | bytes[9]!);
}
