import type { Input, InputAudioTrack } from "mediabunny";
import { opusPacketSeconds } from "./opus_packet.ts";

type Mediabunny = typeof import("mediabunny");

/** Packets that are counted to check the duration: a quarter of an hour of audio. */
const PACKETS_MAX = 50_000;
const AAC_PACKET_SAMPLES = 1024;

/**
 * Duration of audio in a container, by the timestamps of its packets. Null where there are more packets than fit
 * into that time, and for codecs whose packets have no duration of their own.
 */
export async function containerSeconds(bunny: Mediabunny, input: Input): Promise<number | null> {
  const seconds = await input.computeDuration();
  for (const track of await input.getAudioTracks()) {
    const played = await packetSeconds(bunny, track);
    if (played === null || seconds * 1.01 + 0.2 < played) return null;
  }
  return seconds;
}

async function packetSeconds(
  { EncodedPacketSink }: Mediabunny,
  track: InputAudioTrack,
): Promise<number | null> {
  const codec = await track.getCodec();
  if (codec === "aac") {
    const { packetCount } = await track.computePacketStats(PACKETS_MAX);
    return packetCount * AAC_PACKET_SAMPLES / await track.getSampleRate();
  }
  if (codec !== "opus") return null;
  let seconds = 0;
  let packets = 0;
  for await (const { data } of new EncodedPacketSink(track).packets()) {
    if (++packets > PACKETS_MAX) return null;
    seconds += opusPacketSeconds(data);
  }
  return seconds;
}
