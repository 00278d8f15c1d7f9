import assert from "node:assert/strict";

const EVERY_MS = 50;
/** A machine that is busy otherwise may take this long over an answer; a blocked thread takes longer. */
const PATIENCE_MS = 30_000;
const BLOCKED_MAX_MS = 1_000;

/**
 * Processor time of a process' main thread, in milliseconds. Linux only.
 *
 * A thread that is blocked by its own work uses the processor while others wait for it; one that only waits
 * for its turn on a busy machine does not. So this tells the two apart where a clock cannot.
 */
export function mainThreadMs(pid: number): number {
  const [onProcessor] = Deno.readTextFileSync(`/proc/${pid}/task/${pid}/schedstat`).split(" ");
  return Number(onProcessor) / 1e6;
}

/** Asks `/healthz` once, on a new connection: how long the main thread was at work meanwhile. */
export async function healthMs(address: string, pid: number): Promise<number> {
  const asked = performance.now();
  const before = mainThreadMs(pid);
  using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const res = await fetch(`${address}/healthz`, { client, signal }).catch(() => null);
  await res?.body?.cancel();
  if (!res?.ok) return Infinity;
  return Math.min(performance.now() - asked, mainThreadMs(pid) - before);
}

/** Asks `/healthz` again and again until it is disposed. */
export function watchHealth({ address, pid }: { address: string; pid: number }) {
  let isOver = false;
  let slowestMs = 0;
  let answers = 0;
  const watching = (async () => {
    while (!isOver) {
      slowestMs = Math.max(slowestMs, await healthMs(address, pid));
      answers++;
      await new Promise((resume) => setTimeout(resume, EVERY_MS));
    }
  })();
  const end = async () => {
    isOver = true;
    await watching;
  };
  return {
    /** Ends the watch, and tells the longest that the main thread kept `/healthz` waiting. */
    async slowest(): Promise<number> {
      await end();
      return slowestMs;
    },
    /** Ends the watch. Nothing may have kept an answer for a second. */
    async assertLively(): Promise<void> {
      await end();
      assert.ok(
        answers > 0 && slowestMs < BLOCKED_MAX_MS,
        `the main thread was blocked for ${Math.round(slowestMs)} ms`,
      );
    },
    [Symbol.asyncDispose]: end,
  };
}
