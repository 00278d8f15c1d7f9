import { encodeMp3 } from "./encode_mp3.ts";

/** Audio as frames that can be muxed into a video: browsers play MP3 inside of MP4. */
export interface Mp3Frames {
  readonly frames: readonly Uint8Array[];
  readonly sampleRate: number;
  readonly channels: number;
  readonly samplesPerFrame: number;
}

/**
 * Reads an MP3 file, or a WAV file, which becomes MP3: browsers do not play bare samples inside of MP4.
 * Throws what is neither.
 */
export async function readMp3Frames(file: Blob): Promise<Mp3Frames> {
  const { BlobSource, EncodedPacketSink, Input, MP3, WAVE } = await import("mediabunny");
  using input = new Input({ source: new BlobSource(file), formats: [MP3, WAVE] });
  const track = await input.getPrimaryAudioTrack();
  const decoder = await track?.getDecoderConfig() ?? null;
  if (track === null || decoder === null) throw new TypeError("no audio");
  const { codec, sampleRate, numberOfChannels: channels } = decoder;
  const packets = await Array.fromAsync(new EncodedPacketSink(track).packets());
  if (codec === "pcm-s16") {
    const bytes = await new Blob(packets.map(({ data }) => data.slice())).arrayBuffer();
    const samples = new Int16Array(bytes, 0, bytes.byteLength >> 1);
    return await readMp3Frames(new Blob([await encodeMp3({ samples, channels, sampleRate }, 64)]));
  }
  if (codec !== "mp3" || packets.length === 0) throw new TypeError("neither MP3 nor WAV");
  return {
    frames: packets.map(({ data }) => data),
    sampleRate,
    channels,
    samplesPerFrame: Math.round(packets[0]!.duration * sampleRate),
  };
}

/** A frame of the same kind in which nothing is said: a header, and no coefficients. */
export function silentFrame({ frames }: Mp3Frames): Uint8Array {
  const bytes = new Uint8Array(frames[0]!.length);
  bytes.set(frames[0]!.subarray(0, 4));
  bytes[1]! |= 1; // no checksum
  return bytes;
}
