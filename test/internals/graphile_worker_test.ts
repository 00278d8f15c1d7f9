import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { Logger, runTaskList } from "graphile-worker";
import { migrateQueue } from "../../src/platform/queue/graphile_queue.ts";
import { openPgPool } from "../../src/platform/queue/pg_pool.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
// graphile-worker needs a server: the embedded database cannot listen.
const ignore = Deno.env.get("TEST_STORE") === "embedded";

async function openQueueDatabase() {
  const fresh = await freshDatabase();
  const database = await fresh.open();
  await migrateQueue(database.sql, fresh.databaseUrl!);
  return {
    sql: database.sql,
    url: fresh.databaseUrl!,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await fresh[Symbol.asyncDispose]();
    },
  };
}

Deno.test({
  name: "graphile-worker: the SQL that the queue writes itself fits the schema",
  ignore,
  ...STRICT,
  async fn() {
    await using database = await openQueueDatabase();
    const { sql } = database;
    const fields = await sql`
      select attname from pg_attribute
       where attrelid = 'graphile_worker.job_spec'::regclass and attnum > 0 order by attnum`;
    assert.deepEqual(fields.map(({ attname }) => attname), [
      "identifier",
      "payload",
      "queue_name",
      "run_at",
      "max_attempts",
      "job_key",
      "priority",
      "flags",
    ]);
    await sql`
      select id, task_identifier, attempts, max_attempts, locked_at from graphile_worker.jobs`;
    const functions = await sql`
      select proname, pg_get_function_arguments(oid) as arguments from pg_proc
       where pronamespace = 'graphile_worker'::regnamespace
         and proname in ('add_jobs', 'complete_jobs') order by proname`;
    assert.match(functions[0]!.arguments, /^specs graphile_worker\.job_spec\[\]/);
    assert.match(functions[1]!.arguments, /^job_ids bigint\[\]/);
  },
});

Deno.test({
  name:
    "graphile-worker: gracefulShutdownAbortTimeout of 1 ms leaves no timer behind, and the event is emitted",
  ignore,
  ...STRICT,
  async fn() {
    await using database = await openQueueDatabase();
    const pool = openPgPool(database.url, 3);
    const events = new EventEmitter();
    let shutdowns = 0;
    events.on("pool:gracefulShutdown", () => shutdowns++);
    const workers = runTaskList(
      {
        events,
        concurrency: 1,
        noHandleSignals: true,
        logger: new Logger(() => () => {}),
        preset: { worker: { gracefulShutdownAbortTimeout: 1 } },
      },
      { test: () => {} },
      pool,
    );
    await workers.gracefulShutdown();
    await workers.promise;
    await pool.end();
    assert.equal(shutdowns, 1);
    // The timer fires within this time; with a larger value the sanitizer of this test reports it.
    await new Promise((resolve) => setTimeout(resolve, 20));
  },
});
