import assert from "node:assert/strict";
import { until } from "../../test/helpers/chat_gateway.ts";
import { WorkerPool, WorkerPoolError } from "./worker_pool.ts";
import { recordLog } from "../../test/helpers/logs.ts";

const TOY = new URL("../../test/helpers/toy_thread.ts", import.meta.url);

const startPool = (size: number, prefix = "") => {
  const logged: string[] = [];
  let spawned = 0;
  return {
    logged,
    spawned: () => spawned,
    starting: WorkerPool.start({
      size,
      spawn: (name) => (spawned++, new Worker(TOY, { type: "module", name: prefix + name })),
      log: recordLog((_level, message) => void logged.push(message)),
      keepCounters: (counts) => Promise.resolve(`exited: ${counts.join()}`),
      pauseMs: 10,
    }),
  };
};

async function call(pool: WorkerPool, path = "/"): Promise<string | null> {
  // A connection of its own: the system shares out connections, not requests.
  using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  return await fetch(`http://127.0.0.1:${pool.banner}${path}`, { client })
    .then((res) => res.text(), () => null);
}

Deno.test("threads share one port, and one that fails is replaced while others serve", async () => {
  const { starting, logged, spawned } = startPool(2);
  await using pool = await starting;
  const seen = new Set<string | null>();
  await until("both serve", async () => (seen.add(await call(pool)), seen.size === 2), 20);
  await call(pool, "/fail");
  await until("it is replaced", () => spawned() === 3 && pool.size === 2, 20);
  assert.deepEqual(logged, ["thread failed, starting a replacement"]);
  seen.clear();
  await until("both serve", async () => {
    const name = await call(pool);
    if (name !== null) seen.add(name);
    return seen.size === 2;
  }, 20);
});

Deno.test("a pool whose first thread cannot start does not start, and says why", async () => {
  const { starting, spawned } = startPool(3, "bad ");
  await assert.rejects(
    starting,
    (error) => error instanceof WorkerPoolError && error.message === "it is bad",
  );
  assert.equal(spawned(), 1);
});

Deno.test("a pool that is stopped does not serve and starts no thread", async () => {
  const { starting, spawned } = startPool(2);
  const pool = await starting;
  await pool[Symbol.asyncDispose]();
  assert.equal(await call(pool), null);
  assert.equal(pool.size, 0);
  assert.equal(spawned(), 2);
});

Deno.test("each thread answers with the metrics of all, and one that does not answer delays none", async () => {
  const { starting, spawned } = startPool(2);
  await using pool = await starting;
  const both = ["gateway 1", "gateway 2"];
  for (let n = 0; n < 6; n++) {
    assert.deepEqual(JSON.parse((await call(pool, "/metrics"))!), both);
  }
  await until("one is mute", async () => await call(pool, "/mute") === "gateway 1", 20);
  for (let n = 0; n < 3; n++) {
    assert.deepEqual(JSON.parse((await call(pool, "/metrics"))!), both, "its last metrics count");
  }
  await call(pool, "/fail");
  await until("it is replaced", () => spawned() === 3 && pool.size === 2, 20);
  await until("all are counted", async () => {
    const counted = JSON.parse(await call(pool, "/metrics") ?? "[]");
    return counted.length === 3 && /^exited: gateway [12]$/.test(counted[0]);
  }, 20);
});
