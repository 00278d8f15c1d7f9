import type { Input, InputAudioTrack, InputVideoTrack } from "mediabunny";
import { type Mp3Frames, readMp3Frames } from "../../lib/mp3_frames.ts";

export type Mediabunny = typeof import("mediabunny");

/** The shots are not of one kind, or one of them is no video. The message is ours, and says which. */
export class CannotJoin extends Error {
  override readonly name = "CannotJoin";

  constructor(readonly shot: number, readonly reason: string, options?: ErrorOptions) {
    super(`Cannot join shot ${shot + 1}: ${reason}`, options);
  }
}

export interface OpenShot {
  readonly video: InputVideoTrack;
  readonly audio: InputAudioTrack | null;
  readonly line: Mp3Frames | null;
  readonly decoder: VideoDecoderConfig;
  /** Where its own clock begins and ends, and how long it is shown; in seconds. */
  readonly start: number;
  readonly end: number;
  readonly seconds: number;
}

export async function openShot(
  input: Input,
  line: Blob | null,
  at: number,
): Promise<OpenShot> {
  try {
    const video = await input.getPrimaryVideoTrack();
    const decoder = await video?.getDecoderConfig() ?? null;
    if (video === null || decoder === null) throw new TypeError("no video track");
    const { EncodedPacketSink } = await import("mediabunny");
    const sink = new EncodedPacketSink(video);
    const beginning = await sink.getFirstPacket({ verifyKeyPackets: true });
    // Without a key frame it would be drawn over the last frame of the previous shot.
    if (beginning?.type !== "key") throw new TypeError("no key frame at the beginning");
    const spoken = line === null ? null : await readMp3Frames(line);
    const start = await video.getFirstTimestamp();
    const end = await video.computeDuration();
    return {
      video,
      audio: await input.getPrimaryAudioTrack(),
      line: spoken,
      decoder,
      start,
      end,
      seconds: Math.max(end - start, spoken === null ? 0 : secondsOf(spoken)),
    };
  } catch (cause) {
    throw new CannotJoin(at, "its video or its line cannot be read.", { cause });
  }
}

function secondsOf({ frames, samplesPerFrame, sampleRate }: Mp3Frames): number {
  return frames.length * samplesPerFrame / sampleRate;
}

/** What a decoder is told before it begins; nothing for codecs that say it in their packets. */
export function decoderBytes(
  { description }: VideoDecoderConfig | AudioDecoderConfig,
): Uint8Array {
  if (description === undefined) return new Uint8Array();
  return ArrayBuffer.isView(description)
    ? new Uint8Array(description.buffer, description.byteOffset, description.byteLength)
    : new Uint8Array(description as ArrayBuffer);
}
