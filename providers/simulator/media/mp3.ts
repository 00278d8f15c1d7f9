import type { WasmMediaEncoder } from "wasm-media-encoders";

const BITS_PER_SECOND = 48_000;
/** Encoded at a stretch, between which others get their turn. */
const STRETCH = 12_000;
/**
 * So much is encoded, about ten seconds; longer texts go on with the same sounds again. A murmur need
 * not be told apart after that, and LAME takes a good while for minutes of it.
 */
const DISTINCT_SAMPLES = 240_000;
/** Below 32 kHz. */
const SAMPLES_PER_FRAME = 576;

let encoder: Promise<WasmMediaEncoder<"audio/mpeg">> | undefined;
/** There is one encoder, and it has one file in hand at a time. */
let turn: Promise<unknown> = Promise.resolve();

/** So many samples of a sound as an MP3 file. */
export function encodeMp3(
  sound: (count: number) => Int16Array,
  samples: number,
  sampleRate: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const mine = turn.then(async () => {
    const distinct = await encode(sound(Math.min(samples, DISTINCT_SAMPLES)), sampleRate);
    const frames = Math.ceil(samples / SAMPLES_PER_FRAME);
    return repeated(distinct, frames * frameBytes(sampleRate));
  });
  turn = mine.catch(() => {});
  return mine;
}

async function encode(samples: Int16Array, sampleRate: number): Promise<Uint8Array<ArrayBuffer>> {
  encoder ??= import("wasm-media-encoders").then(({ createMp3Encoder }) => createMp3Encoder());
  const lame = await encoder;
  lame.configure({ sampleRate, channels: 1, bitrate: BITS_PER_SECOND / 1000 as 48 });
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < samples.length; at += STRETCH) {
    const stretch = Float32Array.from(samples.subarray(at, at + STRETCH), (value) => value / 32768);
    // What it returns is its own memory, and is overwritten by the next call.
    pieces.push(lame.encode([stretch]).slice());
    await new Promise((go) => setTimeout(go));
  }
  pieces.push(lame.finalize().slice());
  const whole = new Uint8Array(await new Blob(pieces as BlobPart[]).arrayBuffer());
  return whole.subarray(0, whole.length - whole.length % frameBytes(sampleRate));
}

/** Frames of a constant rate are all of one length. */
function frameBytes(sampleRate: number): number {
  return SAMPLES_PER_FRAME / 8 * BITS_PER_SECOND / sampleRate;
}

function repeated(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length);
  for (let at = 0; at < length; at += bytes.length) {
    whole.set(bytes.subarray(0, length - at), at);
  }
  return whole;
}
