import { ProcessPool, ProcessPoolError } from "../../lib/process_pool.ts";
import type { JoinedVideo } from "./join_videos.ts";
import { CannotJoin } from "./open_shot.ts";

/** One shot of an episode, and what is said in it. */
export interface ShotBytes {
  readonly video: Uint8Array<ArrayBuffer>;
  readonly line: Uint8Array<ArrayBuffer> | null;
}

export type JoinAnswer =
  | { joined: JoinedVideo }
  | { cannot: { shot: number; reason: string; cause: string } };

const DEADLINE_MS = 60_000;

/**
 * `joinVideos` in a worker of its own, since upstreams' bytes may keep a parser busy for ever. What takes
 * too long cannot be joined.
 */
export async function joinInWorker(
  shots: readonly ShotBytes[],
  signal: AbortSignal,
  { deadlineMs = DEADLINE_MS } = {},
): Promise<JoinedVideo> {
  await using pool = new ProcessPool({
    module: new URL("./join_worker.ts", import.meta.url),
    size: 1,
    deadlineMs,
    waitMs: DEADLINE_MS,
    waitingMax: 1,
    heapMb: 512,
  });
  const stop = () => void pool[Symbol.asyncDispose]();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const answer = await pool.run<readonly ShotBytes[], JoinAnswer>({
      owner: "",
      input: shots,
    });
    if ("joined" in answer) return answer.joined;
    const { shot, reason, cause } = answer.cannot;
    throw new CannotJoin(shot, reason, { cause });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ProcessPoolError)) throw error;
    throw new CannotJoin(0, "joining does not come to an end.", { cause: error });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
