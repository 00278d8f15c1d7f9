import type { EncodedPacket, VideoCodec } from "mediabunny";
import { readParameterSets, withParameterSets } from "./avc_packets.ts";
import { joinAudio } from "./join_audio.ts";
import { CannotJoin, decoderBytes, type Mediabunny, type OpenShot, openShot } from "./open_shot.ts";

export { CannotJoin } from "./open_shot.ts";

/** One shot of an episode. */
export interface Shot {
  readonly video: Blob;
  /** What is said in it, as MP3 or WAV; the shot lasts until it is said. */
  readonly line?: Blob | null;
}

export interface JoinedVideo {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly durationMs: number;
  readonly width: number;
  readonly height: number;
  readonly hasAudio: boolean;
}

/**
 * Shots one after another in one MP4, without encoding any of them anew: packets are copied, and get the
 * time at which their shot is due. All must have one codec and one size; otherwise it throws `CannotJoin`.
 *
 * Audio: where any shot has a line, the lines and silence between them. Otherwise the shots' own, if all
 * have audio of one kind. Otherwise none.
 */
export async function joinVideos(shots: readonly Shot[]): Promise<JoinedVideo> {
  if (shots.length === 0) throw new CannotJoin(0, "there are no shots.");
  // Most of a second to load, for finished episodes only.
  const bunny = await import("mediabunny");
  const { BlobSource, Input, MP4, QTFF } = bunny;
  using inputs = new DisposableStack();
  const opened: OpenShot[] = [];
  for (const [at, { video, line }] of shots.entries()) {
    const input = inputs.use(new Input({ source: new BlobSource(video), formats: [MP4, QTFF] }));
    opened.push(await openShot(input, line ?? null, at));
  }
  opened.forEach((shot, at) => checkKind(opened[0]!, shot, at));
  return await writeJoined(bunny, opened);
}

function checkKind(first: OpenShot, shot: OpenShot, at: number): void {
  const { decoder } = shot;
  if (familyOf(decoder.codec) !== familyOf(first.decoder.codec)) {
    throw new CannotJoin(at, "its codec differs from the first shot's.");
  }
  const isSameSize = decoder.codedWidth === first.decoder.codedWidth &&
    decoder.codedHeight === first.decoder.codedHeight;
  if (!isSameSize) throw new CannotJoin(at, "its size differs from the first shot's.");
  const isAvc = familyOf(decoder.codec) === "avc1";
  if (!isAvc && !sameBytes(decoderBytes(decoder), decoderBytes(first.decoder))) {
    throw new CannotJoin(at, "its decoder settings differ from the first shot's.");
  }
}

async function writeJoined(bunny: Mediabunny, shots: readonly OpenShot[]): Promise<JoinedVideo> {
  const { BufferTarget, EncodedAudioPacketSource, EncodedVideoPacketSource } = bunny;
  const { Mp4OutputFormat, Output } = bunny;
  const [first] = shots;
  const target = new BufferTarget();
  // The index in front, so that it plays while it is fetched.
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: "in-memory" }), target });
  const codec = await first!.video.getCodec() as VideoCodec;
  const video = new EncodedVideoPacketSource(codec);
  output.addVideoTrack(video, { rotation: await first!.video.getRotation() });
  const audio = await joinAudio(shots);
  const audioSource = audio === null ? null : new EncodedAudioPacketSource(audio.codec);
  if (audioSource !== null) output.addAudioTrack(audioSource);
  await output.start();
  // The file has one place for the decoder's settings. Where they differ, every key frame brings its own.
  const settings = decoderBytes(first!.decoder);
  const isMixed = shots.some(({ decoder }) => !sameBytes(decoderBytes(decoder), settings));
  let due = 0;
  for (const [at, shot] of shots.entries()) {
    try {
      for await (const packet of packetsOf(bunny, shot, due, isMixed)) {
        await video.add(packet, { decoderConfig: first!.decoder });
      }
      if (audio !== null) await audio.add(audioSource!, bunny, shot, due);
    } catch (cause) {
      // Trying again would not help: the same bytes would fail in the same way.
      await output.cancel();
      throw new CannotJoin(at, "its packets cannot be copied.", { cause });
    }
    due += shot.seconds;
  }
  await output.finalize();
  return {
    bytes: new Uint8Array(target.buffer!),
    durationMs: Math.round(due * 1000),
    width: await first!.video.getDisplayWidth(),
    height: await first!.video.getDisplayHeight(),
    hasAudio: audioSource !== null,
  };
}

/** A shot's packets in the order they are decoded, the last frame shown until the shot ends. */
async function* packetsOf(
  bunny: Mediabunny,
  shot: OpenShot,
  due: number,
  isMixed: boolean,
): AsyncGenerator<EncodedPacket> {
  const { video, decoder, start, end, seconds } = shot;
  const sets = familyOf(decoder.codec) === "avc1" ? readParameterSets(decoderBytes(decoder)) : null;
  for await (const packet of new bunny.EncodedPacketSink(video).packets()) {
    const isLast = packet.timestamp + packet.duration >= end - 1e-4;
    yield packet.clone({
      timestamp: packet.timestamp - start + due,
      duration: packet.duration + (isLast ? seconds - (end - start) : 0),
      ...(sets !== null && { data: withParameterSets(packet, sets, isMixed) }),
    });
  }
}

/** `avc1.42c028` and `avc3.640028` are of one family. */
function familyOf(codec: string): string {
  return codec.split(".")[0]!.replace("avc3", "avc1").replace("hev1", "hvc1");
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
