import assert from "node:assert/strict";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import { addCredit } from "../../src/domain/ledger/credit.ts";
import { requestCancelAll } from "../../src/workflows/tasks/cancel_task.ts";
import { type Ending, finishTask } from "../../src/workflows/tasks/finish_task.ts";
import {
  claimTask,
  LostLease,
  recordAccepted,
  recordSubmitting,
  reschedule,
} from "../../src/workflows/tasks/lease.ts";
import type { ClaimedRow } from "../../src/workflows/tasks/task.ts";
import { openTaskChanges } from "../../src/workflows/tasks/task_changes.ts";
import { openTaskWrites } from "../../src/workflows/tasks/task_writes.ts";
import { openTaskEngine, type TaskEngine } from "../helpers/task_engine.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const IMAGE = { model: "image-model" };
const UPSTREAM = { provider: "canary-provider", model: "canary-image" };
const SUCCESS: Ending = {
  status: "succeeded",
  outputs: [{ index: 0, type: "image", file_id: "file_x", mime_type: "image/png", bytes: 1 }],
  usage: { images: 1, calls: 1 },
  units: 1,
};

async function times<T>(count: number, run: (at: number) => Promise<T>): Promise<T[]> {
  return await Promise.all(Array.from({ length: count }, (_, at) => run(at)));
}

/** A second account, as a call names it. */
async function addAccount({ database: { sql } }: TaskEngine, cash: string) {
  const { id } = await createAccount(sql, { name: "other" });
  await addCredit(sql, { account: id, kind: "cash", amount: cash, reference: "start" });
  return { account: { id, plan: "free", priceBook: null } };
}

async function claimed(engine: TaskEngine, count: number): Promise<ClaimedRow[]> {
  const rows = await times(count, () => engine.submit(IMAGE));
  return await Promise.all(
    rows.map(async ({ id }) => (await claimTask(engine.deps.changes, id))!),
  );
}

async function assertBooks(engine: TaskEngine): Promise<void> {
  const { ok, checks } = await engine.verify();
  assert.ok(ok, JSON.stringify(checks));
}

Deno.test(
  "40 tasks of one moment take less than one statement each, from their request to their end",
  STRICT,
  async () => {
    await using engine = await openTaskEngine();
    const never = new AbortController().signal;
    const run = async (count: number) => {
      const before = engine.statements();
      const rows = await times(count, () => engine.submit(IMAGE));
      const nexts = await Promise.all(rows.map(({ id }) => engine.worker.step(id, never)));
      assert.deepEqual(new Set(nexts), new Set(["done"]));
      return (engine.statements() - before) / count;
    };
    // One alone: begin, claim, submitting, accepted, two for its file, end.
    assert.ok(await run(1) <= 7);
    const each = await run(40);
    assert.ok(each < 1, `${each} statements`);
    await assertBooks(engine);
  },
);

Deno.test(
  "50 requests at once against money for 10 make exactly 10 tasks, beside those of another account",
  STRICT,
  async () => {
    await using engine = await openTaskEngine();
    const poor = await addAccount(engine, "0.40");
    const refused: string[] = [];
    const [made, others] = await Promise.all([
      times(50, () =>
        engine.submit(IMAGE, poor).then(({ id }) => [id], (error) => {
          refused.push(error.code);
          return [];
        })),
      times(20, () => engine.submit(IMAGE)),
    ]);
    assert.equal(made.flat().length, 10);
    assert.deepEqual(new Set(refused), new Set(["insufficient_balance"]));
    for (const { id } of others) assert.equal((await engine.finish(id)).status, "succeeded");
    await assertBooks(engine);
  },
);

Deno.test(
  "an account at its limit gets no more tasks than that, and as many again when they end",
  STRICT,
  async () => {
    await using engine = await openTaskEngine();
    const submit = () =>
      times(12, () =>
        engine.submit(IMAGE, { maxActive: 5 }).then(({ id }) => [id], (error) => {
          assert.equal(error.code, "concurrency_limit_exceeded");
          return [];
        }));
    const first = (await submit()).flat();
    assert.equal(first.length, 5);
    // Ends and requests share statements.
    const [, during] = await Promise.all([
      Promise.all(first.map((id) => engine.finish(id))),
      submit(),
    ]);
    const after = (await submit()).flat();
    assert.equal(during.flat().length + after.length, 5);
    await assertBooks(engine);
  },
);

Deno.test(
  "a task that cannot end, or whose lease is lost, does not keep its neighbours",
  STRICT,
  async () => {
    await using engine = await openTaskEngine();
    const { sql } = engine.database;
    const tasks = await claimed(engine, 6);
    const [broken, stale, ...good] = tasks as [ClaimedRow, ClaimedRow, ...ClaimedRow[]];
    const [hold] = await sql`delete from hold where id = ${broken.request_id} returning *`;
    await sql`update task set fence = fence + 1 where id = ${stale.id}`;

    const recorded = await Promise.allSettled(
      tasks.map((task) => recordSubmitting(engine.deps.changes, task, UPSTREAM)),
    );
    assert.deepEqual(recorded.map(({ status }) => status === "fulfilled"), [
      true,
      false,
      true,
      true,
      true,
      true,
    ]);
    assert.ok((recorded[1] as PromiseRejectedResult).reason instanceof LostLease);

    const ended = await Promise.allSettled(
      tasks.map((task) => finishTask(engine.deps, task, SUCCESS)),
    );
    assert.match(String((ended[0] as PromiseRejectedResult).reason), /has no hold/);
    assert.deepEqual(
      ended.slice(1).map((end) => end.status === "fulfilled" && end.value),
      [false, true, true, true, true],
    );
    for (const { id } of good) assert.equal((await engine.task(id)).hold_state, "settled");
    await sql`insert into hold ${sql(hold!)}`;
    assert.equal(await finishTask(engine.deps, broken, SUCCESS), true);
    await assertBooks(engine);
  },
);

Deno.test(
  "a wallet that is locked for long stops the tasks of its own account only",
  { ...STRICT, ignore: Deno.env.get("TEST_STORE") === "embedded" },
  async () => {
    await using engine = await openTaskEngine();
    const { sql } = engine.database;
    const other = await addAccount(engine, "1.00");
    const { id } = await engine.submit(IMAGE, other);
    const stuck = (await claimTask(engine.deps.changes, id))!;
    const free = await claimed(engine, 3);
    const unlock = Promise.withResolvers<void>();
    const isLocked = Promise.withResolvers<void>();
    const locking = sql.begin(async (tx) => {
      await tx`select from wallet where account_id = ${other.account.id} for update`;
      isLocked.resolve();
      await unlock.promise;
    });
    await isLocked.promise;
    const [failed, ...ended] = await Promise.allSettled(
      [stuck, ...free].map((task) => finishTask(engine.deps, task, SUCCESS)),
    );
    assert.equal((failed as PromiseRejectedResult).reason.code, "55P03");
    assert.deepEqual(ended.map((end) => end.status === "fulfilled" && end.value), [
      true,
      true,
      true,
    ]);
    unlock.resolve();
    await locking;
    assert.equal(await finishTask(engine.deps, stuck, SUCCESS), true);
    await assertBooks(engine);
  },
);

Deno.test(
  "four processes work on the same tasks: each is claimed once, ends once and is charged once",
  STRICT,
  async () => {
    await using engine = await openTaskEngine();
    const { database: { sql }, deps } = engine;
    const nodes = Array.from({ length: 4 }, () => ({
      ...deps,
      changes: openTaskChanges(sql),
      writes: openTaskWrites({ sql }, deps.queue),
    }));
    const tasks = await times(60, () => engine.submit(IMAGE));
    const ends = await Promise.all(nodes.flatMap((node) =>
      tasks.map(async ({ id }, at) => {
        const task = await claimTask(node.changes, id);
        if (task === null) return false;
        await recordSubmitting(node.changes, task, UPSTREAM);
        await recordAccepted(node.changes, task, `job-${at}`);
        // Some wait, and requests come in, while others end.
        if (at % 5 === 0) await reschedule(node.changes, task, { delayMs: 60_000 });
        if (at % 5 === 1) await engine.submit(IMAGE);
        return await finishTask(node, task, SUCCESS);
      })
    ));
    assert.equal(ends.filter((isEnded) => isEnded).length, 60);
    const [row] = await sql<[{ fences: string }]>`
      select string_agg(distinct fence::text, ',') as fences from task where completed_at is not null`;
    assert.equal(row.fences, "2", "one claim and one end");
    await assertBooks(engine);
  },
);

Deno.test(
  "an account is closed while its tasks begin, change and end: no statement waits for another",
  STRICT,
  async () => {
    await using engine = await openTaskEngine();
    const { database: { sql }, deps } = engine;
    for (let round = 0; round < 5; round++) {
      const tasks = await claimed(engine, 30);
      await Promise.all([
        ...tasks.toReversed().map(async (task) => {
          await recordSubmitting(deps.changes, task, UPSTREAM);
          await finishTask(deps, task, SUCCESS);
        }),
        ...Array.from({ length: 4 }, () => requestCancelAll(sql, engine.account)),
        times(10, () => engine.submit(IMAGE)),
      ]);
    }
    await assertBooks(engine);
  },
);
