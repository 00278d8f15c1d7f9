import assert from "node:assert/strict";
import { periodic, sleep, withTimeout } from "./timers.ts";

const strict = { sanitizeOps: true, sanitizeResources: true };

Deno.test("sleep resolves after its time and leaves nothing at its signal", strict, async () => {
  const startedAt = performance.now();
  await sleep(20, new AbortController().signal);
  assert.ok(performance.now() - startedAt >= 18);
});

Deno.test(
  "sleep rejects with the signal's reason, also when that aborted before",
  strict,
  async () => {
    const stop = new AbortController();
    const sleeping = sleep(60_000, stop.signal);
    const reason = new Error("stopped");
    stop.abort(reason);
    await assert.rejects(sleeping, (error) => error === reason);
    await assert.rejects(sleep(60_000, stop.signal), (error) => error === reason);
  },
);

Deno.test("withTimeout passes on what its work results in", strict, async () => {
  const never = () => assert.fail("no timeout");
  assert.equal(await withTimeout(Promise.resolve("done"), 60_000, never), "done");
  const failure = new Error("failed");
  await assert.rejects(
    withTimeout(Promise.reject(failure), 60_000, never),
    (error) => error === failure,
  );
});

Deno.test(
  "withTimeout gives the fallback in time and ignores a later rejection",
  strict,
  async () => {
    const work = Promise.withResolvers<string>();
    assert.equal(await withTimeout(work.promise, 5, () => "late"), "late");
    work.reject(new Error("too late to matter"));
    await sleep(0);
  },
);

Deno.test("withTimeout rejects with what its fallback throws", strict, async () => {
  const work = Promise.withResolvers<void>();
  const timeout = () => {
    throw new RangeError("took too long");
  };
  await assert.rejects(withTimeout(work.promise, 5, timeout), RangeError);
});

Deno.test("rounds of periodic never overlap", strict, async () => {
  let [running, runningMax, rounds] = [0, 0, 0];
  const enough = Promise.withResolvers<void>();
  await using _loop = periodic(async () => {
    runningMax = Math.max(runningMax, ++running);
    await sleep(10);
    running--;
    if (++rounds === 3) enough.resolve();
  }, { intervalMs: 1, onError: assert.fail, keepsProcessAlive: true });
  await enough.promise;
  assert.equal(runningMax, 1);
});

Deno.test("a round that throws is reported, and the next one comes", strict, async () => {
  const errors: unknown[] = [];
  let rounds = 0;
  const enough = Promise.withResolvers<void>();
  await using _loop = periodic(() => {
    rounds++;
    if (rounds === 1) throw new Error("at once");
    if (rounds === 2) return Promise.reject(new Error("later"));
    enough.resolve();
  }, { intervalMs: 1, onError: (error) => errors.push(error), keepsProcessAlive: true });
  await enough.promise;
  assert.deepEqual(errors.map(String), ["Error: at once", "Error: later"]);
});

Deno.test(
  "what onError throws is an unhandled rejection and does not end the loop",
  strict,
  async () => {
    const unhandled = Promise.withResolvers<unknown>();
    const onRejection = (event: PromiseRejectionEvent) => {
      event.preventDefault();
      unhandled.resolve(event.reason);
    };
    globalThis.addEventListener("unhandledrejection", onRejection);
    let rounds = 0;
    const enough = Promise.withResolvers<void>();
    const unexpected = new Error("not foreseen");
    {
      await using _loop = periodic(() => {
        if (++rounds === 1) throw unexpected;
        enough.resolve();
      }, {
        intervalMs: 1,
        onError: (error) => {
          throw error;
        },
        keepsProcessAlive: true,
      });
      await enough.promise;
      assert.equal(await unhandled.promise, unexpected);
    }
    globalThis.removeEventListener("unhandledrejection", onRejection);
  },
);

Deno.test("disposal waits for the round that runs and drops its error", strict, async () => {
  const started = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  let rounds = 0;
  const loop = periodic(async () => {
    rounds++;
    started.resolve();
    await closed.promise;
    throw new Error("the database is closed");
  }, { intervalMs: 1, onError: assert.fail, keepsProcessAlive: true });
  await started.promise;
  const disposed = loop[Symbol.asyncDispose]();
  closed.resolve();
  await disposed;
  await sleep(10);
  assert.equal(rounds, 1);
});
