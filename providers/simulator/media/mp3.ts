import { encodeMp3 } from "../../../src/lib/encode_mp3.ts";

const KBPS = 48;
/**
 * So much is encoded, about ten seconds; longer texts go on with the same sounds again. A murmur need
 * not be told apart after that, and LAME takes a good while for minutes of it.
 */
const DISTINCT_SAMPLES = 240_000;
/** Below 32 kHz. */
const SAMPLES_PER_FRAME = 576;

/** So many samples of a sound of one channel as an MP3 file. */
export async function murmurMp3(
  sound: (count: number) => Int16Array,
  count: number,
  sampleRate: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const samples = sound(Math.min(count, DISTINCT_SAMPLES));
  const distinct = await encodeMp3({ samples, channels: 1, sampleRate }, KBPS);
  // Frames of a constant rate are all of one length.
  const frameBytes = SAMPLES_PER_FRAME / 8 * KBPS * 1000 / sampleRate;
  const whole = new Uint8Array(Math.ceil(count / SAMPLES_PER_FRAME) * frameBytes);
  const again = distinct.subarray(0, distinct.length - distinct.length % frameBytes);
  for (let at = 0; at < whole.length; at += again.length) {
    whole.set(again.subarray(0, whole.length - at), at);
  }
  return whole;
}
