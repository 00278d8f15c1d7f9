import type { Input, InputAudioTrack } from "mediabunny";
import { flacSeconds } from "./flac_seconds.ts";
import { type MediaBytes, type MediaFacts, UNKNOWN_MEDIA, whole } from "./media_facts.ts";
import { oggSeconds } from "./ogg_seconds.ts";
import { opusPacketSeconds } from "./opus_packet.ts";
import { countSeconds } from "./audio_frames.ts";
import { wavSeconds } from "./wav_seconds.ts";

/** Where the bytes of a file come from. */
export interface MediaSource {
  /** Some bytes, the last included. */
  range(first: number, last: number): Promise<Uint8Array>;
  /** All bytes from the first on. */
  all(): AsyncIterable<Uint8Array>;
}

const BLOCK_BYTES = 64 * 1024;
/** A file whose tables are larger is not worth the memory: its size and length stay unknown. */
const BLOCKS_MAX = 64;
/** Packets that are counted to see whether they fit the time they are said to take: a quarter of an hour. */
const PACKETS_MAX = 50_000;
const AAC_PACKET_SAMPLES = 1024;

type Measuring = (source: MediaSource, subject: MediaBytes) => Promise<number | null>;

/**
 * Seconds of audio are paid for by the account that sends it: they are counted by what a player would play,
 * not by what a header says.
 */
const SOUNDS: Readonly<Record<string, Measuring>> = {
  "audio/mpeg": (source) => countSeconds(source.all(), "mp3"),
  "audio/aac": (source) => countSeconds(source.all(), "adts"),
  "audio/flac": (source) => flacSeconds(source.all()),
  "audio/ogg": (source) => oggSeconds(source.all()),
  "audio/wav": (source, { bytes, head }) => wavSeconds(blockReader(source, bytes, head), bytes),
};

/**
 * Size and length of audio and video where they are cheaply known. A file that cannot be measured is still a
 * file. To be run in a worker that can be killed: some files make a parser loop for ever.
 */
export async function probeMedia(source: MediaSource, subject: MediaBytes): Promise<MediaFacts> {
  const sound = SOUNDS[subject.mimeType];
  try {
    if (sound === undefined) return await measureMedia(source, subject);
    const seconds = await sound(source, subject);
    return { ...UNKNOWN_MEDIA, durationMs: whole((seconds ?? 0) * 1000) };
  } catch {
    return UNKNOWN_MEDIA;
  }
}

async function measureMedia(
  media: MediaSource,
  { kind, bytes, head }: MediaBytes,
): Promise<MediaFacts> {
  // Large, and not needed before the first sound or film.
  const bunny = await import("mediabunny");
  const { ALL_FORMATS, CustomSource, Input } = bunny;
  const input = new Input({
    formats: ALL_FORMATS,
    source: new CustomSource({ getSize: () => bytes, read: blockReader(media, bytes, head) }),
  });
  try {
    if (kind === "audio") {
      return {
        ...UNKNOWN_MEDIA,
        durationMs: whole((await packedSeconds(bunny, input) ?? 0) * 1000),
      };
    }
    const seconds = await input.getDurationFromMetadata() ?? await input.computeDuration();
    const track = kind === "video" ? await input.getPrimaryVideoTrack() : null;
    return {
      width: whole(await track?.getDisplayWidth()),
      height: whole(await track?.getDisplayHeight()),
      durationMs: whole(seconds * 1000),
    };
  } finally {
    input.dispose();
  }
}

/**
 * How long audio in a container lasts, by the times of its packets; null where there are more packets than
 * fit into that time, and for codecs whose packets do not tell how long they play.
 */
async function packedSeconds(bunny: typeof import("mediabunny"), input: Input) {
  const seconds = await input.computeDuration();
  for (const track of await input.getAudioTracks()) {
    const least = await leastSeconds(bunny, track);
    if (least === null || seconds * 1.01 + 0.2 < least) return null;
  }
  return seconds;
}

async function leastSeconds(
  { EncodedPacketSink }: typeof import("mediabunny"),
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

/** Reads of a few bytes each, served from blocks; gives up on a file that wants too many of them. */
function blockReader(source: MediaSource, bytes: number, head: Uint8Array) {
  const blocks = new Map<number, Promise<Uint8Array>>();
  async function load(index: number): Promise<Uint8Array> {
    const first = index * BLOCK_BYTES;
    const last = Math.min(first + BLOCK_BYTES, bytes) - 1;
    if (last < head.length) return head.subarray(first, last + 1);
    return await source.range(first, last);
  }
  return async function read(start: number, end: number): Promise<Uint8Array> {
    const wanted = new Uint8Array(end - start);
    for (let at = start; at < end;) {
      const index = Math.floor(at / BLOCK_BYTES);
      if (!blocks.has(index)) {
        if (blocks.size >= BLOCKS_MAX) throw new Error("the file's tables are too large");
        blocks.set(index, load(index));
      }
      const block = await blocks.get(index)!;
      const part = block.subarray(at - index * BLOCK_BYTES, end - index * BLOCK_BYTES);
      wanted.set(part, at - start);
      at += part.length;
    }
    return wanted;
  };
}
