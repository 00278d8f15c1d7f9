import { blockReader, type MediaSource } from "../../lib/media_duration/block_reader.ts";
import { mediaDuration } from "../../lib/media_duration/media_duration.ts";
import { type MediaBytes, type MediaFacts, UNKNOWN_MEDIA, whole } from "./media_facts.ts";

/**
 * Size and duration of audio and video. A file that no parser can read is stored all the same, with both unknown.
 * To be run in a process that can be killed: some files make a parser loop for ever.
 */
export async function probeMedia(source: MediaSource, file: MediaBytes): Promise<MediaFacts> {
  try {
    if (file.kind === "video") return await probeVideo(source, file);
    const seconds = await mediaDuration(source, file);
    return { ...UNKNOWN_MEDIA, durationMs: whole((seconds ?? 0) * 1000) };
  } catch {
    // Parsers of three packages throw errors of every class for bytes that they cannot read.
    return UNKNOWN_MEDIA;
  }
}

async function probeVideo(source: MediaSource, file: MediaBytes): Promise<MediaFacts> {
  // Large, and not needed before the first video.
  const { ALL_FORMATS, CustomSource, Input } = await import("mediabunny");
  using input = new Input({
    formats: ALL_FORMATS,
    source: new CustomSource({ getSize: () => file.bytes, read: blockReader(source, file) }),
  });
  const seconds = await input.getDurationFromMetadata() ?? await input.computeDuration();
  const track = await input.getPrimaryVideoTrack();
  return {
    width: whole(await track?.getDisplayWidth()),
    height: whole(await track?.getDisplayHeight()),
    durationMs: whole(seconds * 1000),
  };
}
