import type { AudioCodec, EncodedAudioPacketSource } from "mediabunny";
import { type Mp3Frames, silentFrame } from "../../lib/mp3_frames.ts";
import { CannotJoin, decoderBytes, type Mediabunny, type OpenShot } from "./open_shot.ts";

/** The audio track of an episode, written shot by shot. */
export interface JoinedAudio {
  readonly codec: AudioCodec;
  add(
    track: EncodedAudioPacketSource,
    bunny: Mediabunny,
    shot: OpenShot,
    due: number,
  ): Promise<void>;
}

/** The audio track to write; null for none. */
export async function joinAudio(shots: readonly OpenShot[]): Promise<JoinedAudio | null> {
  const [first] = shots.flatMap(({ line }) => line === null ? [] : [line]);
  return first === undefined ? await ownAudio(shots) : lines(shots, first);
}

/** Lines and silence. Frames follow one another without a gap: players do not agree on what one means. */
function lines(shots: readonly OpenShot[], first: Mp3Frames): JoinedAudio {
  shots.forEach(({ line }, at) => {
    const isSame = line === null ||
      line.sampleRate === first.sampleRate && line.channels === first.channels;
    if (!isSame) throw new CannotJoin(at, "its line's sample rate or channels differ.");
  });
  const silence = silentFrame(first);
  const { sampleRate, channels, samplesPerFrame } = first;
  const decoderConfig = { codec: "mp3", sampleRate, numberOfChannels: channels };
  const frameSeconds = samplesPerFrame / sampleRate;
  let count = 0;
  return {
    codec: "mp3",
    async add(track, { EncodedPacket }, { line, seconds }, due) {
      const put = (data: Uint8Array) => {
        const packet = new EncodedPacket(data, "key", count++ * frameSeconds, frameSeconds);
        return track.add(packet, { decoderConfig });
      };
      // To the nearest frame: what is too early or too late never adds up.
      const until = async (time: number) => {
        while ((count + 0.5) * frameSeconds <= time) await put(silence);
      };
      await until(due);
      for (const frame of line?.frames ?? []) await put(frame);
      await until(due + seconds);
    },
  };
}

/** The shots' own audio, if all of them have audio of one kind. */
async function ownAudio(shots: readonly OpenShot[]): Promise<JoinedAudio | null> {
  const configs = await Promise.all(shots.map(({ audio }) => audio?.getDecoderConfig() ?? null));
  const codec = await shots[0]!.audio?.getCodec() ?? null;
  if (codec === null || new Set(configs.map(kindOf)).size > 1) return null;
  return {
    codec,
    async add(track, { EncodedPacketSink }, { audio, start, seconds }, due) {
      for await (const packet of new EncodedPacketSink(audio!).packets()) {
        const timestamp = packet.timestamp - start;
        // Audio before or after its video would overlap with another shot.
        if (timestamp < -1e-3 || timestamp >= seconds) continue;
        await track.add(packet.clone({ timestamp: Math.max(0, timestamp) + due }), {
          decoderConfig: configs[0]!,
        });
      }
    },
  };
}

function kindOf(config: AudioDecoderConfig | null): string {
  if (config === null) return "none";
  const { codec, sampleRate, numberOfChannels } = config;
  return [codec, sampleRate, numberOfChannels, decoderBytes(config).toHex()].join(" ");
}
