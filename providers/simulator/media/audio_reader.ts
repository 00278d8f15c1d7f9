import type { Mp3Frames } from "../../../src/lib/mp3_frames.ts";
import { ProcessPool } from "../../../src/lib/process_pool.ts";

export interface AudioJob {
  wanted: "seconds" | "frames";
  bytes: Uint8Array<ArrayBuffer>;
}

const DEFAULT_MS = 3_000;
const LENGTH_MS_MAX = 600_000;

/** Parses clients' audio in a process of its own: a file may be made to keep a parser busy for ever. */
export class AudioReader {
  readonly #pool = new ProcessPool({
    module: new URL("./audio_worker.ts", import.meta.url),
    size: 1,
    deadlineMs: 20_000,
    waitMs: 30_000,
    waitingMax: 32,
    heapMb: 128,
    // The process ends after its job: avatars are rare, and a simulator is never closed.
    idleMs: 0,
  });

  /** How long audio is, in milliseconds; a default where there is none or it cannot be read. */
  async lengthMs(bytes: Uint8Array<ArrayBuffer> | null): Promise<number> {
    if (bytes === null) return DEFAULT_MS;
    const seconds = await this.#read<number>("seconds", bytes);
    if (seconds === null) return DEFAULT_MS;
    return Math.min(LENGTH_MS_MAX, Math.max(100, Math.round(seconds * 1000)));
  }

  /** The frames of an MP3 or WAV file; null for any other file. */
  mp3Frames(bytes: Uint8Array<ArrayBuffer>): Promise<Mp3Frames | null> {
    return this.#read("frames", bytes);
  }

  async #read<Result>(
    wanted: AudioJob["wanted"],
    bytes: AudioJob["bytes"],
  ): Promise<Result | null> {
    try {
      // There is one process, so that the owner of a job makes no difference.
      return await this.#pool.run<AudioJob, Result>({ owner: "", input: { wanted, bytes } });
    } catch {
      // Whatever the parser throws, and a pool that is full or late: the audio is left out.
      return null;
    }
  }
}
