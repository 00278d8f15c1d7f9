import { concatBytes } from "../bytes.ts";
/** Audio that consists of frames only: no header states its duration. */
export type FrameFormat = "mp3" | "adts";

interface Frame {
  length: number;
  seconds: number;
}

/** Longer than any frame and the header of the next. */
const LOOK_AHEAD_BYTES = 16 * 1024;

/** Bytes outside of frames, such as tags at the end. In more than that, players may find audio. */
const UNFRAMED_BYTES_MAX = 4 * 1024;
const UNFRAMED_SHARE_MAX = 0.01;

/**
 * Duration of audio by its frames. What a header at the start claims does not count, so that a file cannot claim to
 * be shorter than it plays. Null where too many bytes are outside of frames.
 */
export async function countSeconds(
  chunks: AsyncIterable<Uint8Array>,
  format: FrameFormat,
): Promise<number | null> {
  const read = format === "mp3" ? readMp3Header : readAdtsHeader;
  let bytes = new Uint8Array();
  let skip = 0;
  let seconds = 0;
  let framed = 0;
  let unframed = 0;
  let isFirst = true;
  /** Whether a frame ended at the current offset. */
  let isAligned = false;
  const walk = (end: number) => {
    let at = 0;
    while (at < end) {
      const frame = read(bytes, at);
      // Four bytes may look like a header by chance; a second header where the frame ends is no chance.
      if (frame !== null && (isAligned || read(bytes, at + frame.length) !== null)) {
        seconds += frame.seconds;
        framed += frame.length;
        at += frame.length;
        isAligned = true;
      } else {
        at++;
        unframed++;
        isAligned = false;
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
  return unframed > Math.max(UNFRAMED_BYTES_MAX, framed * UNFRAMED_SHARE_MAX) ? null : seconds;
}

/** Kilobits per second by index: MPEG 1 layer III, and the lower sampling rates of MPEG 2. */
const BIT_RATES = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const MP3_RATES = [44_100, 48_000, 32_000] as const;

function readMp3Header(bytes: Uint8Array, at: number): Frame | null {
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
const ADTS_HEADER_BYTES = 7;

function readAdtsHeader(bytes: Uint8Array, at: number): Frame | null {
  if (bytes[at] !== 0xff || ((bytes[at + 1] ?? 0) & 0xf6) !== 0xf0) return null;
  const [third = 0, fourth = 0, fifth = 0, sixth = 0, seventh = 0] = bytes.subarray(at + 2, at + 7);
  const rate = ADTS_RATES[third >> 2 & 15];
  const length = (fourth & 3) << 11 | fifth << 3 | sixth >> 5;
  if (rate === undefined || length < ADTS_HEADER_BYTES) return null;
  return { length, seconds: 1024 * ((seventh & 3) + 1) / rate };
}

/** Length of the tag before the first frame; it may contain a cover image. */
function id3Length(bytes: Uint8Array): number {
  if (bytes[0] !== 0x49 || bytes[1] !== 0x44 || bytes[2] !== 0x33) return 0;
  return 10 + (bytes[6]! << 21 | bytes[7]! << 14 | bytes[8]! << 7 | bytes[9]!);
}
