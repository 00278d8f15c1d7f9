import { type Mp3Frames, readMp3Frames } from "../../../src/lib/mp3_frames.ts";
import { serveJobs } from "../../../src/lib/serve_jobs.ts";
import type { AudioJob } from "./audio_reader.ts";

async function secondsOf(bytes: Uint8Array<ArrayBuffer>): Promise<number> {
  const { ALL_FORMATS, BufferSource, Input } = await import("mediabunny");
  using input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  return await input.computeDuration();
}

await serveJobs<AudioJob, number | Mp3Frames>(async ({ wanted, bytes }) => {
  if (wanted === "seconds") return await secondsOf(bytes);
  const { frames, ...rest } = await readMp3Frames(new Blob([bytes]));
  // Each frame is copied: sending a view sends the whole buffer below it.
  return { ...rest, frames: frames.map((frame) => frame.slice()) };
});
