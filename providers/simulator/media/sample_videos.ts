import type { EncodedPacket } from "mediabunny";

/** Shapes and colours of the prepared videos in samples/, made by scripts/make_simulator_samples.ts. */
export const SHAPES = [
  { name: "16x9", width: 640, height: 360 },
  { name: "9x16", width: 360, height: 640 },
  { name: "1x1", width: 480, height: 480 },
  { name: "4x3", width: 554, height: 416 },
  { name: "3x4", width: 416, height: 554 },
] as const;
export const COLOURS = ["red", "green", "blue"] as const;
export const FRAMES_PER_SECOND = 12;

export type VideoShape = typeof SHAPES[number];
export type VideoColour = typeof COLOURS[number];
/** An avatar has one colour only. */
export type SampleName = `${VideoShape["name"]}_${VideoColour | "avatar"}`;

/** One loop of H.264 that starts with its only key frame. */
export interface SampleVideo {
  readonly decoderConfig: VideoDecoderConfig;
  readonly packets: readonly EncodedPacket[];
}

/** The prepared shape nearest to a ratio of width to height. */
export function nearestShape(ratio: number): VideoShape {
  const distance = ({ width, height }: VideoShape) => Math.abs(Math.log(width / height / ratio));
  return SHAPES.reduce((best, one) => distance(one) < distance(best) ? one : best);
}

/** Reads each sample once. */
export class SampleVideos {
  readonly #read = new Map<SampleName, Promise<SampleVideo>>();

  get(name: SampleName): Promise<SampleVideo> {
    let sample = this.#read.get(name);
    if (sample === undefined) this.#read.set(name, sample = readSample(name));
    return sample;
  }
}

async function readSample(name: SampleName): Promise<SampleVideo> {
  const { BufferSource, EncodedPacketSink, Input, MP4 } = await import("mediabunny");
  const bytes = await Deno.readFile(new URL(`./samples/${name}.mp4`, import.meta.url));
  using input = new Input({ source: new BufferSource(bytes), formats: [MP4] });
  const track = (await input.getPrimaryVideoTrack())!;
  const packets: EncodedPacket[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) packets.push(packet);
  return { decoderConfig: (await track.getDecoderConfig())!, packets };
}
