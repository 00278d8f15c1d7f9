import assert from "node:assert/strict";
import { sweepLedger } from "../../src/domain/ledger/sweep.ts";
import { cancelTask } from "../../src/workflows/tasks/cancel_task.ts";
import { finishTask } from "../../src/workflows/tasks/finish_task.ts";
import {
  claimTask,
  LostLease,
  recordAccepted,
  recordOutput,
  recordSubmitting,
  reschedule,
} from "../../src/workflows/tasks/lease.ts";
import { replayTask } from "../../src/workflows/tasks/operate_tasks.ts";
import { openTaskEngine } from "../helpers/task_engine.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const UPSTREAM = { provider: "canary-provider", model: "canary-image" };
const OUTPUT = {
  index: 0,
  type: "image",
  file_id: "file_x",
  mime_type: "image/png",
  bytes: 1,
} as const;

Deno.test(
  "every message delivered five times at once: each task is done once",
  STRICT,
  async () => {
    await using engine = await openTaskEngine();
    const rows = await Promise.all(
      Array.from(
        { length: 12 },
        (_, at) =>
          engine.submit({
            model: "image-model",
            prompt: at % 3 === 0 ? "[[simulate: fail_at=0]] x" : "x",
            n: 2,
          }),
      ),
    );
    const ended = await Promise.all(rows.map(({ id }) => engine.finish(id, 5)));
    assert.equal(ended.filter(({ status }) => status === "succeeded").length, 8);
    assert.equal(ended.filter(({ status }) => status === "failed").length, 4);
    const [files] = await engine.database.sql<[{ n: number }]>`
    select count(*)::int as n from file where origin = 'output'`;
    assert.equal(files.n, 16, "no result is stored twice");
    const { ok, checks } = await engine.verify();
    assert.ok(ok, JSON.stringify(checks));
  },
);

Deno.test("a worker that lost its lease changes nothing any more", STRICT, async () => {
  await using engine = await openTaskEngine();
  const { sql } = engine.database;
  const { id } = await engine.submit({ model: "image-model" });
  const stale = (await claimTask(engine.deps.changes, id))!;
  await recordSubmitting(engine.deps.changes, stale, UPSTREAM);
  assert.equal(await claimTask(engine.deps.changes, id), null, "leased");
  await sql`update task set lease_until = now() - interval '1 second', wake_at = now() where id = ${id}`;
  const fresh = (await claimTask(engine.deps.changes, id))!;
  assert.equal(fresh.phase, "submitting", "what was about to happen is known");
  await assert.rejects(recordSubmitting(engine.deps.changes, stale, UPSTREAM), LostLease);
  await assert.rejects(recordAccepted(engine.deps.changes, stale, "theirs"), LostLease);
  await assert.rejects(recordOutput(engine.deps.changes, stale, OUTPUT), LostLease);
  await assert.rejects(reschedule(engine.deps.changes, stale, { delayMs: 0 }), LostLease);
  assert.equal(await finishTask(engine.deps, stale, { status: "failed" }), false);
  await recordAccepted(engine.deps.changes, fresh, "ours");
  const usage = { images: 1, calls: 1 };
  assert.equal(
    await finishTask(engine.deps, fresh, {
      status: "succeeded",
      outputs: [OUTPUT],
      usage,
      units: 1,
    }),
    true,
  );
  assert.equal(await finishTask(engine.deps, fresh, { status: "failed" }), false);
  assert.equal((await engine.task(id)).hold_state, "settled");
  assert.ok((await engine.verify()).ok);
});

Deno.test(
  "cancelling races success a thousand times: one of them ends the task, and the money follows it",
  STRICT,
  async () => {
    await using engine = await openTaskEngine();
    const seen = { succeeded: 0, cancelled: 0 };
    const race = async (turn: number) => {
      const { id } = await engine.submit({ model: "image-model" });
      const task = (await claimTask(engine.deps.changes, id))!;
      // Some are cancelled well before, most at about the same moment.
      if (turn % 10 === 0) await cancelTask(engine.deps, engine.account, id);
      const succeed = async () => {
        await new Promise((resume) => setTimeout(resume, turn % 7));
        await recordSubmitting(engine.deps.changes, task, UPSTREAM);
        if (turn % 2 === 0) await recordAccepted(engine.deps.changes, task, `job-${turn}`);
        return await finishTask(engine.deps, task, {
          status: "succeeded",
          outputs: [OUTPUT],
          usage: { images: 1, calls: 1 },
          units: 1,
        });
      };
      const [isSucceeded, { row }] = await Promise.all([
        succeed().catch((error) => {
          assert.ok(error instanceof LostLease, String(error));
          return false;
        }),
        cancelTask(engine.deps, engine.account, id),
      ]);
      const end = await engine.task(id);
      assert.equal(end.status, isSucceeded ? "succeeded" : "cancelled");
      assert.equal(end.hold_state, isSucceeded ? "settled" : "released");
      if (row.status === "cancelled") assert.equal(isSucceeded, false);
      seen[end.status as keyof typeof seen]++;
    };
    for (let turn = 0; turn < 1000; turn += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, at) => race(turn + at)));
    }
    assert.equal(seen.succeeded + seen.cancelled, 1000);
    assert.ok(seen.succeeded > 0 && seen.cancelled > 0, JSON.stringify(seen));
    const { ok, checks } = await engine.verify();
    assert.ok(ok, JSON.stringify(checks));
  },
);

Deno.test(
  "the ledger's own sweeper leaves the hold of a active task alone, whatever the time",
  STRICT,
  async () => {
    await using engine = await openTaskEngine();
    const { sql } = engine.database;
    const { id } = await engine.submit({ model: "image-model" });
    await sql.unsafe(`
    create or replace function ledger_now() returns timestamptz language sql volatile
    as 'select clock_timestamp() + interval ''1 year'''`);
    await sweepLedger(sql, () => undefined);
    assert.equal((await engine.task(id)).hold_state, "open");
    const done = await engine.finish(id);
    assert.deepEqual([done.status, done.hold_state], ["succeeded", "settled"]);
    assert.ok((await engine.verify()).ok);
  },
);

Deno.test(
  "a task whose steps keep breaking waits for an operator, and goes on when told to; else it expires",
  STRICT,
  async () => {
    await using engine = await openTaskEngine();
    const { sql } = engine.database;
    const { files } = engine.deps;
    const storeOutput = files.storeOutput;
    files.storeOutput = async (_account, { body }) => {
      for await (const _ of body as AsyncIterable<Uint8Array>) break;
      throw new TypeError("a bug of ours");
    };
    const kill = async () => {
      const { id } = await engine.submit({ model: "image-model" });
      for (let steps = 0; steps < 20; steps++) {
        await sql`update task set wake_at = now() where id = ${id} and dead_at is null`;
        await engine.worker.step(id, new AbortController().signal);
      }
      const [row] = await sql<[{ is_dead: boolean; last_failure: string }]>`
      select dead_at is not null and wake_at > now() as is_dead, last_failure from task
       where id = ${id}`;
      assert.ok(row.is_dead);
      assert.match(row.last_failure, /a bug of ours/);
      return id;
    };
    const id = await kill();
    const forgotten = await kill();
    files.storeOutput = storeOutput;
    assert.equal((await replayTask(engine.deps, id)).dead_at, null);
    assert.equal((await engine.finish(id)).status, "succeeded");
    await assert.rejects(replayTask(engine.deps, id), { code: "invalid_value" });
    await sql`update task set deadline_at = now(), wake_at = now() where id = ${forgotten}`;
    const expired = await engine.finish(forgotten);
    assert.deepEqual([expired.status, expired.hold_state], ["expired", "released"]);
    assert.ok((await engine.verify()).ok);
  },
);

Deno.test(
  "a model that is gone fails what waits for it, and not what its provider already has",
  STRICT,
  async () => {
    await using engine = await openTaskEngine();
    const { sql } = engine.database;
    const waiting = await engine.submit({ model: "image-model" });
    const running = await engine.submit({
      model: "image-model",
      prompt: "[[simulate: seconds=1]] x",
    });
    const never = new AbortController().signal;
    await engine.worker.step(running.id, never);
    const models = new Map(engine.config.models);
    models.delete("image-model");
    engine.deps.configOf = () => ({ ...engine.config, models });
    const failed = await engine.finish(waiting.id);
    assert.deepEqual([failed.status, failed.error_code], ["failed", "model_unavailable"]);
    const done = await engine.finish(running.id);
    assert.equal(done.status, "succeeded", JSON.stringify(done));
    const again = await engine.submit({ model: "sketch", prompt: "[[simulate: seconds=1]] x" });
    await engine.worker.step(again.id, never);
    engine.deps.configOf = () => ({ ...engine.config, models, providers: new Map() });
    await sql`update task set wake_at = now() where id = ${again.id}`;
    assert.equal((await engine.finish(again.id)).status, "failed");
    assert.ok((await engine.verify()).ok);
  },
);

Deno.test("keys past their time are removed, and only those", STRICT, async () => {
  await using engine = await openTaskEngine();
  const { sql } = engine.database;
  await sql`
    insert into idempotency (account_id, key, path, body_hash, task_id, expires_at)
    values ('a', 'active', '/', '', 't', null), ('a', 'kept', '/', '', 't', now() + interval '1 hour'),
           ('a', 'over', '/', '', 't', now() - interval '1 second')`;
  await engine.worker.due(1);
  const rows = await sql<{ key: string }[]>`select key from idempotency order by key`;
  assert.deepEqual(rows.map(({ key }) => key), ["active", "kept"]);
});
