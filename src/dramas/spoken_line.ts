import type { AudioCodec, EncodedPacket } from "mediabunny";

export type Mediabunny = typeof import("mediabunny");

/** A sound that is laid under a shot: MP3 frames, which browsers play inside of MP4. */
export interface Line {
  readonly frames: readonly EncodedPacket[];
  readonly decoder: AudioDecoderConfig;
  /** Of one frame, and of all. */
  readonly frameSeconds: number;
  readonly seconds: number;
}

export const LINE_CODEC: AudioCodec = "mp3";
const STRETCH = 12_000;

/** Reads a line; one that is WAV becomes MP3, as browsers do not play bare samples inside of MP4. */
export async function openLine(bunny: Mediabunny, line: Blob): Promise<Line> {
  const { BlobSource, EncodedPacketSink, Input, MP3, WAVE } = bunny;
  using input = new Input({ source: new BlobSource(line), formats: [MP3, WAVE] });
  const track = await input.getPrimaryAudioTrack();
  const decoder = await track?.getDecoderConfig() ?? null;
  if (track === null || decoder === null) throw new TypeError("no sound");
  const packets = await Array.fromAsync(new EncodedPacketSink(track).packets());
  if (decoder.codec === "pcm-s16") return await openLine(bunny, await encoded(packets, decoder));
  const frameSeconds = packets[0]?.duration ?? 0;
  if (decoder.codec !== "mp3" || frameSeconds === 0) throw new TypeError("neither MP3 nor WAV");
  return { frames: packets, decoder, frameSeconds, seconds: packets.length * frameSeconds };
}

/** A frame of the same kind in which nothing is said: a header, and no coefficients. */
export function silentLike({ frames }: Line): Uint8Array {
  const bytes = new Uint8Array(frames[0]!.data.length);
  bytes.set(frames[0]!.data.subarray(0, 4));
  bytes[1]! |= 1; // no checksum
  return bytes;
}

async function encoded(
  packets: readonly EncodedPacket[],
  { sampleRate, numberOfChannels }: AudioDecoderConfig,
): Promise<Blob> {
  const { createMp3Encoder } = await import("wasm-media-encoders");
  const lame = await createMp3Encoder();
  const channels = numberOfChannels === 2 ? 2 : 1;
  lame.configure({ sampleRate, channels, bitrate: 64 });
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const bytes = new Uint8Array(
    await new Blob(packets.map(({ data }) => data.slice())).arrayBuffer(),
  );
  const samples = new Int16Array(bytes.buffer, 0, bytes.length >> 1);
  for (let at = 0; at < samples.length; at += STRETCH * numberOfChannels) {
    const stretch = samples.subarray(at, at + STRETCH * numberOfChannels);
    const planes = Array.from(
      { length: channels },
      (_, channel) =>
        Float32Array.from(
          { length: Math.floor(stretch.length / numberOfChannels) },
          (_, sample) => stretch[sample * numberOfChannels + channel]! / 32_768,
        ),
    );
    // What it returns is its own memory, and is overwritten by the next call.
    pieces.push(lame.encode(planes as [Float32Array]).slice());
    await new Promise((go) => setTimeout(go));
  }
  pieces.push(lame.finalize().slice());
  return new Blob(pieces);
}
