import assert from "node:assert/strict";

const EVERY_MS = 50;
const PATIENCE_MS = 10_000;

/** Asks `/healthz` again and again, each time on a new connection, until it is disposed. */
export function watchHealth(address: string) {
  let isOver = false;
  let slowestMs = 0;
  let answers = 0;
  const watching = (async () => {
    while (!isOver) {
      const asked = performance.now();
      using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const res = await fetch(`${address}/healthz`, { client, signal }).catch(() => null);
      await res?.body?.cancel();
      slowestMs = Math.max(slowestMs, res?.ok ? performance.now() - asked : Infinity);
      answers++;
      await new Promise((resume) => setTimeout(resume, EVERY_MS));
    }
  })();
  return {
    /** Ends the watch. Every answer must have come within a second. */
    async assertLively(): Promise<void> {
      isOver = true;
      await watching;
      assert.ok(answers > 0 && slowestMs < 1000, `/healthz took ${slowestMs} ms`);
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await watching;
    },
  };
}
