import assert from "node:assert/strict";
import { until } from "../../test/helpers/chat_gateway.ts";
import { WorkerPool, WorkerPoolError } from "./worker_pool.ts";
import { recordLog } from "../../test/helpers/logs.ts";

const TOY = new URL("../../test/helpers/toy_thread.ts", import.meta.url);

const startCrew = (size: number, prefix = "") => {
  const logged: string[] = [];
  let hired = 0;
  return {
    logged,
    hired: () => hired,
    crew: WorkerPool.start({
      size,
      hire: (name) => (hired++, new Worker(TOY, { type: "module", name: prefix + name })),
      log: recordLog((_level, message) => void logged.push(message)),
      keepCounts: (counts) => Promise.resolve(`gone: ${counts.join()}`),
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
  const { crew: starting, logged, hired } = startCrew(2);
  await using pool = await starting;
  const seen = new Set<string | null>();
  await until("both serve", async () => (seen.add(await call(pool)), seen.size === 2), 20);
  await call(pool, "/fail");
  await until("it is replaced", () => hired() === 3 && pool.size === 2, 20);
  assert.deepEqual(logged, ["a thread failed and is replaced"]);
  seen.clear();
  await until("both serve", async () => {
    const name = await call(pool);
    if (name !== null) seen.add(name);
    return seen.size === 2;
  }, 20);
});

Deno.test("a crew whose first thread cannot start does not start, and says why", async () => {
  const { crew, hired } = startCrew(3, "bad ");
  await assert.rejects(
    crew,
    (error) => error instanceof WorkerPoolError && error.message === "it is bad",
  );
  assert.equal(hired(), 1);
});

Deno.test("a crew that is stopped serves no more and hires nobody", async () => {
  const { crew: starting, hired } = startCrew(2);
  const pool = await starting;
  await pool[Symbol.asyncDispose]();
  assert.equal(await call(pool), null);
  assert.equal(pool.size, 0);
  assert.equal(hired(), 2);
});

Deno.test("whichever thread is asked, it hears what all have counted, and a deaf one holds nobody up", async () => {
  const { crew: starting, hired } = startCrew(2);
  await using pool = await starting;
  const both = ["gateway 1", "gateway 2"];
  for (let n = 0; n < 6; n++) {
    assert.deepEqual(JSON.parse((await call(pool, "/count"))!), both);
  }
  await until("one is deaf", async () => await call(pool, "/hush") === "gateway 1", 20);
  for (let n = 0; n < 3; n++) {
    assert.deepEqual(JSON.parse((await call(pool, "/count"))!), both, "what it said last counts");
  }
  await call(pool, "/fail");
  await until("it is replaced", () => hired() === 3 && pool.size === 2, 20);
  await until("all count", async () => {
    const counted = JSON.parse(await call(pool, "/count") ?? "[]");
    return counted.length === 3 && /^gone: gateway [12]$/.test(counted[2]);
  }, 20);
});
