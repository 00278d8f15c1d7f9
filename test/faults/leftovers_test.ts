import assert from "node:assert/strict";
import { join } from "node:path";
import { openFiles } from "../../src/domain/files/open_files.ts";
import { KvQueue } from "../../src/platform/queue/kv_queue.ts";
import { until } from "../helpers/chat_gateway.ts";
import { filesIn } from "../helpers/file_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { openKillable } from "../helpers/killable_gateway.ts";
import { openTaskEngine } from "../helpers/task_engine.ts";
import { noLog } from "../helpers/logs.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };

Deno.test(
  "a result stored just before a kill -9 and never listed is removed, row and bytes, and the listed one stays",
  STRICT,
  async () => {
    await using store = await freshDatabase();
    await using database = await store.open();
    const { sql } = database;
    await using gateway = await openKillable(store);
    const { studio } = gateway;
    await gateway.start();
    const { key } = await gateway.account();
    const { id } = await gateway.submit(key, { prompt: "hold-poll" });
    await until("it is polled", () => studio.waiting("poll") === 1, 30);
    // While its row is locked the result can be stored, and not be written down.
    const unlock = Promise.withResolvers<void>();
    const lockTaken = Promise.withResolvers<void>();
    const locking = sql.begin(async (tx) => {
      await tx`select from task where id = ${id} for update`;
      lockTaken.resolve();
      await unlock.promise;
    });
    await lockTaken.promise;
    studio.letGo("poll");
    await until("the file is stored", async () => {
      const rows = await sql`select from file where task_id = ${id} and ready_at is not null`;
      return rows.length === 1;
    }, 10);
    await gateway.kill();
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`;
    unlock.resolve();
    await locking;
    await gateway.start();
    const task = await gateway.ended(key, id, 60);
    assert.equal(task.status, "succeeded");
    assert.equal((await sql`select from file where task_id = ${id}`).length, 2);

    await using files = await openFiles({
      sql,
      dataDir: store.dataDir,
      storage: () => ({ files: "local", s3: null }) as never,
      address: () => "",
      log: noLog,
    });
    assert.equal(await files.clean(), 1);
    const left = await sql<{ id: string }[]>`select id from file where task_id = ${id}`;
    assert.deepEqual(left.map((file) => file.id), [task.output[0].file_id]);
    assert.equal((await filesIn(join(store.dataDir, "files"))).length, 1);
    const res = await fetch(task.output[0].url);
    assert.equal(res.status, 200);
    await res.body?.cancel();
    assert.equal(await files.clean(), 0);
    await gateway.verify();
  },
);

Deno.test(
  "a job that a killed node had locked at its last attempt is removed, and its task ends",
  STRICT,
  async () => {
    await using store = await freshDatabase();
    await using database = await store.open();
    const { sql } = database;
    await using gateway = await openKillable(store);
    const config = join(store.dataDir, "gateway.yaml");
    await Deno.writeTextFile(config, "storage: { queue: postgres }\n", { append: true });
    await gateway.start();
    const { key } = await gateway.account();
    const { id } = await gateway.submit(key, { prompt: "hold-submit" });
    await until("it is submitted", () => gateway.studio.waiting("submit") === 1, 30);
    const res = await fetch(`${gateway.process().address}/v1/tasks/${id}/cancel`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
    });
    await res.body?.cancel();
    const atLast = async () =>
      (await sql`select from graphile_worker.jobs where attempts >= max_attempts`).length;
    await until("the locked job was replaced", async () => await atLast() === 1, 30);
    await gateway.kill();
    assert.equal(await atLast(), 1, "nothing but a sweep takes it away");
    gateway.studio.letGo("submit");
    // Five hours later.
    await sql`
      update graphile_worker._private_jobs set locked_at = locked_at - interval '5 hours'
       where locked_at is not null`;
    await gateway.start();
    await until("it is removed", async () => await atLast() === 0, 30);
    const task = await gateway.ended(key, id, 60);
    assert.ok(["cancelled", "succeeded"].includes(task.status), task.status);
    await gateway.verify();
  },
);

Deno.test(
  "messages that were never delivered do not stay in the queue's file",
  STRICT,
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "tollgate-queue-" });
    const path = join(folder, "queue.sqlite3");
    const left = async () => {
      using kv = await Deno.openKv(path);
      return (await Array.fromAsync(kv.list({ prefix: [] }))).length;
    };
    try {
      {
        using kv = await Deno.openKv(path);
        await kv.set(["undelivered", "task", "task_x"], { kind: "task", id: "task_x" });
      }
      {
        await using _ = await KvQueue.open({ path, log: noLog });
      }
      assert.equal(await left(), 0);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

Deno.test(
  "a task whose message was lost is found when it is due, in each phase",
  STRICT,
  async () => {
    await using engine = await openTaskEngine();
    const { sql } = engine.database;
    const { id } = await engine.submit({ model: "image-model" });
    for (const phase of ["submit", "submitting", "accepted", "copying", "pipeline"]) {
      await sql`
      update task set phase = ${phase}, upstream_id = 'u', wake_at = now() - interval '1 second',
                      lease_until = now() - interval '1 second' where id = ${id}`;
      assert.deepEqual(await engine.worker.due(10), [id], phase);
      await sql`update task set wake_at = now() + interval '1 minute' where id = ${id}`;
      assert.deepEqual(await engine.worker.due(10), [], phase);
    }
  },
);
