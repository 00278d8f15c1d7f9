import assert from "node:assert/strict";
import type { PoolTestJob } from "../../test/helpers/pool_worker.ts";
import { ProcessPool, ProcessPoolError, type ProcessPoolOptions } from "./process_pool.ts";
import { sleep } from "./timers.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

function openPool(options: Partial<ProcessPoolOptions> = {}) {
  const pool = new ProcessPool({
    module: new URL("../../test/helpers/pool_worker.ts", import.meta.url),
    size: 2,
    deadlineMs: 500,
    waitMs: 20_000,
    waitingMax: 100,
    heapMb: 64,
    ...options,
  });
  return {
    run: (input: PoolTestJob, { owner = "a", answer }: {
      owner?: string;
      answer?: (question: never) => Promise<unknown>;
    } = {}) => pool.run({ owner, input, ...(answer === undefined ? {} : { answer }) }),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

const fails = (job: Promise<unknown>, reason: RegExp) =>
  assert.rejects(job, (error) => error instanceof ProcessPoolError && reason.test(error.message));

Deno.test(
  "a job past its deadline fails, and the next one runs in a new worker",
  STRICT,
  async () => {
    await using pool = openPool({ size: 1 });
    await fails(pool.run({ do: "loop" }), /deadline/);
    assert.equal(await pool.run({ do: "echo", value: 7 }), 7);
  },
);

Deno.test(
  "a job that was ended uses no processor any more",
  { ...STRICT, ignore: Deno.build.os !== "linux" },
  async () => {
    await using pool = openPool({ size: 1 });
    const before = childrenOf(Deno.pid);
    await fails(pool.run({ do: "loop" }), /deadline/);
    for (let tries = 0; childrenOf(Deno.pid).length > before.length; tries++) {
      assert.ok(tries < 500, "its process is still there");
      await sleep(20);
    }
  },
);

function childrenOf(pid: number): string[] {
  return Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean);
}

Deno.test("a job that neither asks nor answers fails before its deadline", STRICT, async () => {
  await using pool = openPool({ size: 1, deadlineMs: 60_000, silenceMs: 300 });
  await fails(pool.run({ do: "loop" }), /does not go on/);
  let asked = 0;
  const answer = async () => {
    // Time that the main thread takes to answer is no silence of the worker.
    if (asked++ === 0) await sleep(600);
    return asked;
  };
  assert.equal(await pool.run({ do: "ask" }, { answer }), 1);
});

Deno.test("a job that keeps asking ends at its deadline", STRICT, async () => {
  await using pool = openPool({ silenceMs: 400 });
  const answer = () => Promise.resolve();
  await fails(pool.run({ do: "ask forever" }, { answer }), /deadline/);
});

Deno.test("a worker that fills its memory fails its own job only", STRICT, async () => {
  await using pool = openPool({ deadlineMs: 60_000 });
  const [, echo] = await Promise.all([
    fails(pool.run({ do: "memory" }), /ended by itself/),
    pool.run({ do: "echo", value: "alive" }, { owner: "b" }),
  ]);
  assert.equal(echo, "alive");
  assert.equal(await pool.run({ do: "echo", value: "again" }), "again");
});

Deno.test(
  "what a job throws, or the answer to its question, arrives as an error of the job",
  STRICT,
  async () => {
    await using pool = openPool();
    await assert.rejects(pool.run({ do: "fail" }), { name: "RangeError", message: "as asked" });
    const answer = () => Promise.reject(new Error("no such bytes"));
    await assert.rejects(pool.run({ do: "ask" }, { answer }), /no such bytes/);
  },
);

Deno.test("one owner has one worker, and others need not wait for its queue", STRICT, async () => {
  await using pool = openPool({ deadlineMs: 60_000 });
  // Both workers are there.
  await Promise.all(
    ["x", "y"].map((owner) => pool.run({ do: "wait", value: 100 }, { owner })),
  );
  const order: string[] = [];
  const note = (name: string) => () => order.push(name);
  await Promise.all([
    ...[1, 2, 3].map((n) => pool.run({ do: "wait", value: 200 }).then(note(`a${n}`))),
    ...[1, 2].map((n) => pool.run({ do: "wait", value: 1 }, { owner: "b" }).then(note(`b${n}`))),
    pool.run({ do: "wait", value: 1 }, { owner: "c" }).then(note("c1")),
  ]);
  assert.deepEqual(order.filter((name) => name.startsWith("a")), ["a1", "a2", "a3"]);
  assert.ok(order.indexOf("c1") < order.indexOf("b2"), `${order}`);
  assert.ok(order.indexOf("b2") < order.indexOf("a3"), `${order}`);
});

Deno.test("an owner whose job had to be ended waits for all others", STRICT, async () => {
  await using pool = openPool({ size: 1, deadlineMs: 300 });
  await fails(pool.run({ do: "loop" }), /deadline/);
  const order: string[] = [];
  const note = (name: string) => () => order.push(name);
  await Promise.all([
    pool.run({ do: "wait", value: 50 }, { owner: "z" }),
    ...[1, 2].map((n) => pool.run({ do: "echo" }).then(note(`a${n}`))),
    ...[1, 2].map((n) => pool.run({ do: "echo" }, { owner: "b" }).then(note(`b${n}`))),
  ]);
  assert.deepEqual(order, ["b1", "b2", "a1", "a2"]);
});

Deno.test("beyond its bounds of number and time a job that waits fails", STRICT, async () => {
  await using pool = openPool({ size: 1, waitingMax: 2, waitMs: 100, deadlineMs: 1500 });
  const running = fails(pool.run({ do: "loop" }), /deadline/);
  const waits = [1, 2].map(() => fails(pool.run({ do: "echo" }), /in time/));
  await fails(pool.run({ do: "echo" }), /too many/);
  await Promise.all([running, ...waits]);
  assert.equal(await pool.run({ do: "echo", value: 1 }), 1);
});

Deno.test("a pool that is disposed fails what runs, waits and comes", STRICT, async () => {
  const pool = openPool({ size: 1, deadlineMs: 60_000 });
  const jobs = [1, 2].map(() => fails(pool.run({ do: "loop" }), /closed/));
  await sleep(100);
  await pool[Symbol.asyncDispose]();
  await Promise.all(jobs);
  await fails(pool.run({ do: "echo" }), /closed/);
});

const WITHOUT_PROCESSES = {
  ...STRICT,
  permissions: { read: true, env: true, run: false },
} as const;

Deno.test(
  "where no worker can start, jobs fail at once and say so",
  WITHOUT_PROCESSES,
  async () => {
    await using pool = openPool();
    for (const _ of [1, 2]) {
      await assert.rejects(
        pool.run({ do: "echo" }),
        (error) => error instanceof ProcessPoolError && error.reason === "unavailable",
      );
    }
  },
);

Deno.test("an idle worker ends, and a process does not stay for one", STRICT, async () => {
  await using pool = openPool({ idleMs: 50 });
  assert.equal(await pool.run({ do: "echo", value: 1 }), 1);
  await sleep(150);
  assert.equal(await pool.run({ do: "echo", value: 2 }), 2);
  const script = `
    import { ProcessPool } from ${
    JSON.stringify(new URL("./process_pool.ts", import.meta.url).href)
  };
    const pool = new ProcessPool({ module: new URL(${
    JSON.stringify(new URL("../../test/helpers/pool_worker.ts", import.meta.url).href)
  }), size: 1, deadlineMs: 500, waitMs: 500, waitingMax: 1, heapMb: 64 });
    console.log(await pool.run({ owner: "a", input: { do: "echo", value: "done" } }));`;
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", script],
    cwd: new URL("../../", import.meta.url),
    signal: AbortSignal.timeout(20_000),
  }).output();
  assert.equal(new TextDecoder().decode(stdout).trim(), "done");
  assert.equal(code, 0);
});
