import type { WasmMediaEncoder } from "wasm-media-encoders";
import { sleep } from "./timers.ts";

export interface PcmAudio {
  /** Samples of all channels in turn. */
  readonly samples: Int16Array;
  readonly channels: number;
  readonly sampleRate: number;
}

/** Samples encoded without a pause for the event loop. */
const STRETCH = 12_000;

let encoder: Promise<WasmMediaEncoder<"audio/mpeg">> | undefined;
/** There is one encoder, which encodes one file at a time. */
let last: Promise<unknown> = Promise.resolve();

/** Audio as an MP3 file of a constant bit rate. Of more than two channels the first two are kept. */
export function encodeMp3(audio: PcmAudio, kbps: 48 | 64): Promise<Uint8Array<ArrayBuffer>> {
  const mine = last.then(() => encode(audio, kbps));
  last = mine.catch(() => {}); // the caller gets the error
  return mine;
}

async function encode(
  { samples, channels, sampleRate }: PcmAudio,
  bitrate: 48 | 64,
): Promise<Uint8Array<ArrayBuffer>> {
  encoder ??= import("wasm-media-encoders").then(({ createMp3Encoder }) => createMp3Encoder());
  const lame = await encoder;
  lame.configure({ sampleRate, channels: channels === 1 ? 1 : 2, bitrate });
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < samples.length; at += STRETCH * channels) {
    const stretch = samples.subarray(at, at + STRETCH * channels);
    const planes = Array.from(
      { length: Math.min(2, channels) },
      (_, channel) => planeOf(stretch, channel, channels),
    );
    // What it returns is its own memory, and is overwritten by the next call.
    pieces.push(lame.encode(planes as [Float32Array]).slice());
    await sleep(0);
  }
  pieces.push(lame.finalize().slice());
  return await new Blob(pieces).bytes();
}

function planeOf(samples: Int16Array, channel: number, channels: number): Float32Array {
  const plane = new Float32Array(Math.floor(samples.length / channels));
  for (let at = 0; at < plane.length; at++) plane[at] = samples[at * channels + channel]! / 32_768;
  return plane;
}
