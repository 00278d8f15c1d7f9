import assert from "node:assert/strict";
import { fakeTime } from "../../../test/helpers/fake_time.ts";
import { recordLog } from "../../../test/helpers/logs.ts";
import type { Queries } from "../../platform/database/database.ts";
import { ConnectionError } from "../../platform/database/storage_error.ts";
import type { Outcome } from "./item.ts";
import { sweepLedger } from "./sweep.ts";
import { startSweepLoop } from "./sweep_loop.ts";

const BATCH = 500;

const outcome = (more: Partial<Outcome>): Outcome => ({
  n: 0,
  id: "req_1",
  outcome: "resolved",
  state: "expired",
  allocations: ["cash:1"],
  held: ["1"],
  taken: ["0"],
  shortfall: null,
  account_id: "acc_1",
  ...more,
});

/** A database that answers each statement by the function in it. */
function answering(answers: Record<string, () => unknown>) {
  const calls: string[] = [];
  const sql = (strings: TemplateStringsArray) => {
    const text = strings.join("?");
    const name = Object.keys(answers).find((name) => text.includes(name))!;
    calls.push(name);
    return Promise.resolve().then(answers[name]);
  };
  return { sql: sql as unknown as Queries, calls };
}

/** Answers these counts, one after the other, and then 0. */
const counting = (...counts: number[]) => () => [{ count: counts.shift() ?? 0 }];

Deno.test("a sweep repeats each part until less than a batch is left", async () => {
  const holds = [BATCH, 2];
  const { sql, calls } = answering({
    ledger_sweep_holds: () => Array.from({ length: holds.shift()! }, () => outcome({})),
    ledger_sweep_buckets: counting(BATCH, BATCH, 0),
    ledger_sweep_plans: counting(BATCH - 1),
  });
  const swept = await sweepLedger(sql, () => {});
  assert.deepEqual(swept, { holds: BATCH + 2, buckets: 2 * BATCH, plans: BATCH - 1 });
  assert.equal(calls.length, 2 + 3 + 1);
});

Deno.test("a sweep reports the holds that came to more than was held", async () => {
  const { sql } = answering({
    ledger_sweep_holds: () => [
      outcome({ id: "within" }),
      outcome({ id: "beyond", shortfall: "0.5" }),
      outcome({ id: "busy", outcome: "open", allocations: null, held: null }),
    ],
    ledger_sweep_buckets: counting(),
    ledger_sweep_plans: counting(),
  });
  const exceeded: string[] = [];
  assert.equal((await sweepLedger(sql, ({ id }) => exceeded.push(id))).holds, 3);
  assert.deepEqual(exceeded, ["beyond"]);
});

Deno.test("a sweep leaves holds that wait for what is only reserved to the next one", async () => {
  const { sql, calls } = answering({
    ledger_sweep_holds: () => [
      ...Array.from({ length: BATCH - 1 }, () => outcome({})),
      outcome({ outcome: "insufficient", retry_ms: 6_000, allocations: null, held: null }),
    ],
    ledger_sweep_buckets: counting(),
    ledger_sweep_plans: counting(),
  });
  assert.equal((await sweepLedger(sql, () => {})).holds, BATCH - 1);
  assert.equal(calls.filter((name) => name === "ledger_sweep_holds").length, 1);
});

/** A loop in fake time; `pings` says what becomes of its first statement in each round. */
function runLoop(pings: (() => unknown)[] = [], due: { buckets?: number; plans?: number } = {}) {
  const time = fakeTime();
  const logged: [level: string, message: string][] = [];
  let renewals = 0;
  let rollUp: () => unknown = () => [{ more: false }];
  const { sql, calls } = answering({
    "select 1": () => pings.shift()?.(),
    ledger_sweep_holds: () => [],
    ledger_sweep_buckets: counting(due.buckets ?? 0),
    ledger_sweep_plans: counting(due.plans ?? 0),
    usage_roll_up: () => rollUp(),
    ledger_sweep_reserves: counting(),
  });
  const loop = startSweepLoop(sql, {
    renew: async () => {
      await Promise.resolve();
      calls.push("renew");
      renewals++;
    },
    onExceeded: () => {},
    log: recordLog((level, message) => logged.push([level, message])),
  });
  return {
    time,
    logged,
    /** Goes on for so many rounds: how many renewed, and how many swept. */
    async rounds(count: number) {
      renewals = 0;
      calls.length = 0;
      await time.advance(count * 5_000);
      return { renewals, sweeps: calls.filter((name) => name === "ledger_sweep_holds").length };
    },
    calls,
    rolledUp: () => calls.includes("usage_roll_up"),
    failRollUp() {
      rollUp = () => {
        throw new Error("no such table");
      };
    },
    async [Symbol.asyncDispose]() {
      await loop[Symbol.asyncDispose]();
      time[Symbol.dispose]();
    },
  };
}

Deno.test("the ledger is swept every five seconds, after this process' holds are renewed", async () => {
  await using loop = runLoop();
  await loop.time.advance(4_999);
  assert.equal(loop.rolledUp(), false);
  assert.deepEqual(await loop.rounds(3), { renewals: 3, sweeps: 3 });
  assert.equal(loop.rolledUp(), true);
  assert.deepEqual(loop.logged, [], "nothing was due");
  assert.deepEqual(loop.calls.slice(0, 3), ["select 1", "renew", "ledger_sweep_holds"]);
});

Deno.test("a sweep that did something says so", async () => {
  for (const due of [{ buckets: 1 }, { plans: 1 }]) {
    await using loop = runLoop([], due);
    await loop.rounds(2);
    assert.deepEqual(loop.logged, [["info", "ledger swept"]]);
  }
});

Deno.test("after an outage holds are renewed three times before any is resolved", async () => {
  const fails = () => {
    throw new ConnectionError("CONNECTION_CLOSED", "away");
  };
  await using loop = runLoop([fails]);
  assert.deepEqual(await loop.rounds(1), { renewals: 0, sweeps: 0 });
  assert.deepEqual(await loop.rounds(3), { renewals: 3, sweeps: 0 });
  assert.deepEqual(await loop.rounds(2), { renewals: 2, sweeps: 2 });
  assert.deepEqual(loop.logged, [], "other parts log outages");
});

Deno.test("so they are after a statement that hung for more than ten seconds", async () => {
  const after = (ms: number) => () => new Promise((resolve) => setTimeout(resolve, ms));
  await using loop = runLoop([after(10_000), after(10_001)]);
  await loop.time.advance(5_000 + 10_000);
  assert.equal(loop.rolledUp(), true, "ten seconds are not too long");
  assert.deepEqual(await loop.rounds(0), { renewals: 0, sweeps: 0 });
  await loop.time.advance(5_000 + 10_001);
  // Three rounds with renewals only; the first one was that of the statement itself.
  assert.deepEqual(await loop.rounds(2), { renewals: 2, sweeps: 0 });
  assert.deepEqual(await loop.rounds(1), { renewals: 1, sweeps: 1 });
});

Deno.test("another error is logged, and the loop goes on", async () => {
  const fails = () => {
    throw new Error("there is no such function");
  };
  await using loop = runLoop([fails]);
  assert.deepEqual(await loop.rounds(2), { renewals: 1, sweeps: 1 });
  assert.deepEqual(loop.logged, [["error", "ledger sweep failed"]]);
  loop.failRollUp();
  await loop.rounds(1);
  assert.equal(loop.logged.length, 2, "also one of the last part");
});
