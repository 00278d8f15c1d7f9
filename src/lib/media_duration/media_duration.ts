import { countSeconds } from "./audio_frames.ts";
import { blockReader, type MediaFile, type MediaSource } from "./block_reader.ts";
import { containerSeconds } from "./container.ts";
import { flacSeconds } from "./flac.ts";
import { oggSeconds } from "./ogg.ts";
import { wavSeconds } from "./wav.ts";

export type { MediaFile, MediaSource } from "./block_reader.ts";

/** PCM as the API sends it: 24 kHz, 16 bit, mono. */
const PCM_BYTES_PER_SECOND = 48_000;

type ReadSeconds = (source: MediaSource, file: MediaFile) => Promise<number | null>;

/**
 * Seconds of audio are charged, so they are counted by what a player would play and not by what a header claims.
 * Types that are not listed are containers.
 */
const READERS: Readonly<Record<string, ReadSeconds>> = {
  "audio/mpeg": (source) => countSeconds(source.all(), "mp3"),
  "audio/aac": (source) => countSeconds(source.all(), "adts"),
  "audio/flac": (source) => flacSeconds(source.all()),
  "audio/ogg": (source) => oggSeconds(source.all()),
  "audio/wav": (source, file) => wavSeconds(blockReader(source, file), file.bytes),
  "audio/pcm": (_, { bytes }) => Promise.resolve(bytes / PCM_BYTES_PER_SECOND),
};

/**
 * Duration of an audio file in seconds; null where it cannot be determined. Files of unknown origin belong in a
 * process that can be killed: some make a parser loop for ever.
 */
export async function mediaDuration(source: MediaSource, file: MediaFile): Promise<number | null> {
  const read = READERS[file.mimeType] ?? readContainer;
  const seconds = await read(source, file);
  return seconds !== null && seconds > 0 ? seconds : null;
}

/** The same, for audio in memory. */
export async function bytesDuration(bytes: Uint8Array, mimeType: string): Promise<number | null> {
  const source: MediaSource = {
    range: (first, last) => Promise.resolve(bytes.subarray(first, last + 1)),
    async *all() {
      yield await Promise.resolve(bytes);
    },
  };
  return await mediaDuration(source, { mimeType, bytes: bytes.length, head: bytes });
}

async function readContainer(source: MediaSource, file: MediaFile): Promise<number | null> {
  // Large, and needed for few files.
  const bunny = await import("mediabunny");
  using input = new bunny.Input({
    formats: bunny.ALL_FORMATS,
    source: new bunny.CustomSource({
      getSize: () => file.bytes,
      read: blockReader(source, file),
    }),
  });
  return await containerSeconds(bunny, input);
}
