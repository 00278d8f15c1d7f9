import assert from "node:assert/strict";
import { newId } from "../../src/lib/ids.ts";
import type { Queue } from "../../src/platform/queue/queue.ts";
import { TaskCreation } from "../../src/workflows/tasks/create_task.ts";
import { openTaskWrites } from "../../src/workflows/tasks/task_writes.ts";
import { until } from "../helpers/chat_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { openKillable } from "../helpers/killable_gateway.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

Deno.test(
  "a gateway killed at any point of a task's life: the next one ends every task, once, and the books are right",
  STRICT,
  async () => {
    await using store = await freshDatabase();
    await using database = await store.open();
    const { sql } = database;
    await using gateway = await openKillable(store);
    const { studio } = gateway;
    await gateway.start();
    const owner = await gateway.account();
    const locked = await gateway.account();
    const { key } = owner;
    const ask = (prompt: string, more: Record<string, unknown> = {}) =>
      gateway.submit(key, { prompt, ...more });

    // Accepted by the upstream, and its id not stored: by one that can be asked, and by one that cannot.
    const sent = await ask("hold-submit");
    const blind = await ask("hold-submit", { model: "blind" });
    const polled = await ask("hold-poll");
    const copied = await ask("hold-output", { n: 2 });
    const finishing = await gateway.submit(locked.key, { prompt: "hold-pollb finish" });
    await until("two submissions are held", () => studio.waiting("submit") === 2, 30);
    await until("two polls are held", () => {
      return studio.waiting("poll") === 1 && studio.waiting("pollb") === 1;
    }, 30);
    await until("an output is held", () => studio.waiting("output") === 1, 30);
    await until("the first output is stored", async () => {
      const [row] = await sql`select from task where id = ${copied.id} and outputs <> '[]'`;
      return row !== undefined;
    }, 30);

    // After the commit and before the answer: the client waits for both.
    const waiting = gateway.post(key, { prompt: "hold-poll waited for" }, {
      prefer: "wait=60",
      "idempotency-key": "waited",
    }).catch(() => null);
    await until("it is written", async () => {
      const [row] =
        await sql`select from task where idempotency_key = 'waited' and phase = 'accepted'`;
      return row !== undefined;
    }, 30);

    // Another transaction locks a wallet: one request cannot commit, and one task cannot finish.
    const unlock = Promise.withResolvers<void>();
    const lockTaken = Promise.withResolvers<void>();
    const locking = sql.begin(async (tx) => {
      await tx`select from wallet where account_id = ${locked.id} for update`;
      lockTaken.resolve();
      await unlock.promise;
    });
    await lockTaken.promise;
    studio.letGo("pollb");
    const uncommitted = gateway.post(locked.key, { prompt: "never committed" }, {
      "idempotency-key": "uncommitted",
    }).catch(() => null);
    // They may share a statement, or the second waits for that of the first.
    await until("they wait for the lock", async () => {
      const [row] = await sql<[{ n: number }]>`
      select count(*)::int as n from pg_locks where not granted`;
      return row.n >= 1;
    }, 4);
    await gateway.kill();
    // A server that has not noticed yet would go on and commit: both must be lost here.
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`;
    unlock.resolve();
    await locking;
    assert.equal(await waiting, null, "the client heard nothing");
    assert.equal(await uncommitted, null);
    for (const point of ["submit", "poll", "output"] as const) studio.letGo(point);
    assert.equal((await sql`select from idempotency where key = 'uncommitted'`).length, 0);

    // Committed, and killed before the queue was notified.
    const silent = { isInPostgres: false, notify() {} } as unknown as Queue;
    const price = {
      book: "default",
      model: "studio",
      billingType: "per_call" as const,
      unit: "image",
      terms: { price: "0.04" },
      effectiveAt: 0,
    };
    const { row: unrung } = await new TaskCreation({
      database,
      queue: silent,
      writes: openTaskWrites(database, silent),
      money: () => ({ currency: "EUR", currencyScale: 6 }),
    }).create({
      account: owner.id,
      requestId: newId("req"),
      clientRequestId: null,
      origin: { key: null, user: null, metadata: null },
      identity: null,
      type: "image",
      model: "studio",
      job: { prompt: "x", parameters: { n: 1, size: "64x64" }, inputs: [] },
      quote: {
        model: "studio",
        kind: "image",
        amount: { num: 4n, den: 100n },
        units: 1n,
        price,
      },
      configVersion: "test",
      callbackUrl: null,
      queueSeconds: 3600,
      deadlineSeconds: 1800,
      maxActive: 100,
    });

    await gateway.start();
    for (const { id } of [sent, polled, copied, unrung]) {
      const done = await gateway.ended(key, id);
      assert.equal(done.status, "succeeded", JSON.stringify(done));
      assert.equal(studio.submissions.get(id), 1, "handed in once");
    }
    const lost = await gateway.ended(key, blind.id);
    assert.equal(lost.status, "failed");
    assert.equal(lost.charge.settled, "0.00");
    assert.equal(studio.submissions.get(blind.id), 1, "never repeated blindly");
    assert.equal(studio.fetches.get(`${copied.id}/0`), 1, "what was copied is not copied again");
    assert.equal(studio.fetches.get(`${copied.id}/1`), 2);
    const finished = await gateway.ended(locked.key, finishing.id);
    assert.equal(finished.charge.settled, "0.04");

    const again = await gateway.post(key, { prompt: "hold-poll waited for" }, {
      "idempotency-key": "waited",
    });
    assert.equal(again.headers.get("idempotent-replayed"), "true");
    const replayed = await gateway.ended(key, (await again.json()).id);
    assert.equal(studio.submissions.get(replayed.id), 1);
    const retried = await gateway.post(locked.key, { prompt: "never committed" }, {
      "idempotency-key": "uncommitted",
    });
    assert.equal(retried.status, 202);
    assert.equal(retried.headers.get("idempotent-replayed"), null);
    await gateway.ended(locked.key, (await retried.json()).id);
    const [left] = await sql<
      [{ frozen: string }]
    >`select sum(frozen) as frozen from balance_bucket`;
    assert.equal(Number(left.frozen), 0);
    await gateway.verify();
  },
);

Deno.test("SIGTERM hands back what runs: the next gateway goes on at once", STRICT, async () => {
  await using store = await freshDatabase();
  await using gateway = await openKillable(store);
  await gateway.start();
  const { key } = await gateway.account();
  const tasks = [];
  for (let n = 0; n < 5; n++) tasks.push(await gateway.submit(key, { prompt: "hold-poll" }));
  await until("all are looked at", () => gateway.studio.waiting("poll") === 5, 30);
  gateway.process().signal("SIGTERM");
  // What waits for an upstream may end while the node drains.
  setTimeout(() => gateway.studio.letGo("poll"), 500);
  const { code } = await gateway.process().ended;
  assert.equal(code, 0);
  await gateway.process()[Symbol.asyncDispose]();
  await gateway.start();
  for (const { id } of tasks) {
    assert.equal((await gateway.ended(key, id, 14)).status, "succeeded");
    assert.equal(gateway.studio.submissions.get(id), 1);
  }
  await gateway.verify();
});
