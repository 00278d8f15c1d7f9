import { isRetryable } from "./storage_error.ts";
import { sleep } from "../../lib/timers.ts";

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;

/** Repeats a failed step until it succeeds, for a limited time, as long as its errors are retryable. */
export async function retryFor<T>(ms: number, error: unknown, work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + ms;
  for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    if (!isRetryable(error) || performance.now() + pauseMs > giveUpAt) throw error;
    await sleep(pauseMs);
    try {
      return await work();
    } catch (again) {
      error = again;
    }
  }
}
