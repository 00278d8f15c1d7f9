import type { EncodedAudioPacketSource, EncodedVideoPacketSource } from "mediabunny";
import type { Mp3Frames } from "../../../src/lib/mp3_frames.ts";
import { FRAMES_PER_SECOND, type SampleVideo } from "./sample_videos.ts";

/**
 * An MP4 that browsers play, of exactly the asked length: the sample's frames in a loop, and the audio
 * beside them. Nothing is encoded. The same input always makes the same bytes.
 */
export async function makeVideo(
  sample: SampleVideo,
  durationMs: number,
  audio: Mp3Frames | null = null,
): Promise<Uint8Array<ArrayBuffer>> {
  const mediabunny = await import("mediabunny");
  const target = new mediabunny.BufferTarget();
  // The index comes first, so that a player can start before the whole file has arrived.
  const format = new mediabunny.Mp4OutputFormat({ fastStart: "in-memory" });
  const output = new mediabunny.Output({ format, target });
  const videoTrack = new mediabunny.EncodedVideoPacketSource("avc");
  const audioTrack = audio === null ? null : new mediabunny.EncodedAudioPacketSource("mp3");
  output.addVideoTrack(videoTrack);
  if (audioTrack !== null) output.addAudioTrack(audioTrack);
  await output.start();
  await addFrames(videoTrack, sample, durationMs / 1000);
  if (audioTrack !== null) await addAudio(audioTrack, audio!, durationMs / 1000);
  await output.finalize();
  return withoutDates(new Uint8Array(target.buffer!));
}

async function addFrames(
  track: EncodedVideoPacketSource,
  { packets, decoderConfig }: SampleVideo,
  seconds: number,
): Promise<void> {
  const count = Math.max(1, Math.ceil(seconds * FRAMES_PER_SECOND));
  for (let at = 0; at < count; at++) {
    const timestamp = at / FRAMES_PER_SECOND;
    // The last frame is shown until the asked length is reached.
    const duration = at < count - 1 ? 1 / FRAMES_PER_SECOND : seconds - timestamp;
    const packet = packets[at % packets.length]!;
    await track.add(packet.clone({ timestamp, duration, sequenceNumber: at }), { decoderConfig });
  }
}

/** As much of the audio as fits into the video. */
async function addAudio(
  track: EncodedAudioPacketSource,
  { frames, sampleRate, channels, samplesPerFrame }: Mp3Frames,
  seconds: number,
): Promise<void> {
  const { EncodedPacket } = await import("mediabunny");
  const duration = samplesPerFrame / sampleRate;
  const decoderConfig = { codec: "mp3", sampleRate, numberOfChannels: channels };
  for (const [at, frame] of frames.slice(0, Math.floor(seconds / duration)).entries()) {
    await track.add(new EncodedPacket(frame, "key", at * duration, duration), { decoderConfig });
  }
}

/** Sets the dates in the headers of an MP4 to zero: mediabunny writes the present time there. */
function withoutDates(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer);
  const visit = (from: number, to: number) => {
    for (let at = from; at + 8 <= to; at += Math.max(8, view.getUint32(at))) {
      const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
      if (["moov", "trak", "mdia"].includes(type)) visit(at + 8, at + view.getUint32(at));
      // After version and flags: the dates of creation and modification, four bytes each.
      if (["mvhd", "tkhd", "mdhd"].includes(type)) bytes.fill(0, at + 12, at + 20);
    }
  };
  visit(0, bytes.length);
  return bytes;
}
