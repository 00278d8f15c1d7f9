import { encodeMp3 } from "../../../src/lib/encode_mp3.ts";

const KBPS = 48;
/** About ten seconds are encoded; longer audio repeats them, because LAME is slow. */
const DISTINCT_SAMPLES = 240_000;
/** Of MP3 below 32 kHz. */
const SAMPLES_PER_FRAME = 576;

/** One channel of audio as an MP3 file of `count` samples. */
export async function writeMp3(
  synthesize: (count: number) => Int16Array,
  count: number,
  sampleRate: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const samples = synthesize(Math.min(count, DISTINCT_SAMPLES));
  const encoded = await encodeMp3({ samples, channels: 1, sampleRate }, KBPS);
  // The bit rate is constant: all frames have one length.
  const frameBytes = SAMPLES_PER_FRAME / 8 * KBPS * 1000 / sampleRate;
  const file = new Uint8Array(Math.ceil(count / SAMPLES_PER_FRAME) * frameBytes);
  const frames = encoded.subarray(0, encoded.length - encoded.length % frameBytes);
  for (let at = 0; at < file.length; at += frames.length) {
    file.set(frames.subarray(0, file.length - at), at);
  }
  return file;
}
