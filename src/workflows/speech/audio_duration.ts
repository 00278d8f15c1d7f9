import type { SpeechFormat } from "./check_speech.ts";

/** PCM as the API sends it: 24 kHz, 16 bit, mono. */
const PCM_BYTES_PER_SECOND = 48_000;

/** How long a sound lasts, in milliseconds; null where its header does not tell. */
export function audioMs(bytes: Uint8Array, format: SpeechFormat): number | null {
  switch (format) {
    case "pcm":
      return Math.round(bytes.length / PCM_BYTES_PER_SECOND * 1000);
    case "wav":
      return wavMs(bytes);
    case "mp3":
      return mp3Ms(bytes);
  }
}

function wavMs(bytes: Uint8Array): number | null {
  if (bytes.length < 44) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let bytesPerSecond = 0;
  for (let at = 12; at + 8 <= bytes.length;) {
    const name = view.getUint32(at);
    const length = view.getUint32(at + 4, true);
    if (name === 0x666d7420 /* "fmt " */ && at + 20 <= bytes.length) {
      bytesPerSecond = view.getUint32(at + 16, true);
    }
    if (name === 0x64617461 /* "data" */) {
      // A stream that did not know its length says 0 or all ones.
      const there = Math.min(length === 0 ? Infinity : length, bytes.length - at - 8);
      return bytesPerSecond === 0 ? null : Math.round(there / bytesPerSecond * 1000);
    }
    at += 8 + length + length % 2;
  }
  return null;
}

/** Kilobits per second by index: MPEG 1 layer III, and the lower sampling rates of MPEG 2. */
const BIT_RATES = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const SAMPLE_RATES = [44_100, 48_000, 32_000] as const;

/** Adds up the frames: rates may change from one to the next. */
function mp3Ms(bytes: Uint8Array): number | null {
  let at = id3Length(bytes);
  let ms = 0;
  while (at + 4 <= bytes.length) {
    const [first, second, third] = [bytes[at]!, bytes[at + 1]!, bytes[at + 2]!];
    const version = second >> 3 & 3;
    const isFrame = first === 0xff && (second & 0xe0) === 0xe0 && (second >> 1 & 3) === 1;
    const bitRate = BIT_RATES[version === 3 ? 0 : 1][third >> 4];
    const baseRate = SAMPLE_RATES[third >> 2 & 3];
    if (!isFrame || version === 1 || !bitRate || baseRate === undefined) {
      if (ms > 0) break;
      at++;
      continue;
    }
    const sampleRate = version === 3 ? baseRate : version === 2 ? baseRate / 2 : baseRate / 4;
    const samples = version === 3 ? 1152 : 576;
    ms += samples / sampleRate * 1000;
    at += Math.floor(samples / 8 * bitRate * 1000 / sampleRate) + (third >> 1 & 1);
  }
  return ms === 0 ? null : Math.round(ms);
}

function id3Length(bytes: Uint8Array): number {
  if (bytes[0] !== 0x49 || bytes[1] !== 0x44 || bytes[2] !== 0x33 || bytes.length < 10) return 0;
  return 10 + (bytes[6]! << 21 | bytes[7]! << 14 | bytes[8]! << 7 | bytes[9]!);
}
