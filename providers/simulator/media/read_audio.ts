import type { Mp3Frames } from "../../../src/lib/mp3_frames.ts";
import { ProcessPool } from "../../../src/lib/process_pool.ts";

export interface AudioJob {
  wanted: "seconds" | "frames";
  bytes: Uint8Array<ArrayBuffer>;
}

const USUAL_MS = 3_000;
const LENGTH_MS_MAX = 600_000;

/** Clients' audio is parsed in a worker: it may be made to keep a parser busy for ever. */
const workers = new ProcessPool({
  module: new URL("./audio_worker.ts", import.meta.url),
  size: 1,
  deadlineMs: 20_000,
  waitMs: 30_000,
  waitingMax: 32,
  heapMb: 128,
  // Avatars are rare, and nobody closes a simulator.
  idleMs: 0,
});

/** How long audio is, in milliseconds; some seconds where that cannot be told. */
export async function audioLength(bytes: Uint8Array<ArrayBuffer> | null): Promise<number> {
  if (bytes === null) return USUAL_MS;
  try {
    const ms = Math.round(await read<number>("seconds", bytes) * 1000);
    return Math.min(LENGTH_MS_MAX, Math.max(100, ms));
  } catch {
    return USUAL_MS;
  }
}

/** The frames of an MP3 or WAV file. Throws for anything else. */
export async function mp3FramesOf(bytes: Uint8Array<ArrayBuffer>): Promise<Mp3Frames> {
  return await read("frames", bytes);
}

async function read<Output>(wanted: AudioJob["wanted"], bytes: AudioJob["bytes"]): Promise<Output> {
  // The owner is of no use here: one worker, first come, first served.
  return await workers.run<AudioJob, Output>({ owner: "", input: { wanted, bytes } });
}
