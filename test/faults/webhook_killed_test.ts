import assert from "node:assert/strict";
import { join } from "node:path";
import { createAccount } from "../../src/domain/accounts/accounts.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { enqueueEvent } from "../helpers/enqueue_event.ts";
import { until } from "../helpers/chat_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { type GatewayProcess, startProcess } from "../helpers/gateway_process.ts";
import { startReceiver } from "../helpers/receiver.ts";
import { freePort } from "../../scripts/free_port.ts";

/** Two nodes in a row on one database, and a receiver. */
async function openGround() {
  await using parts = new AsyncDisposableStack();
  const receiver = parts.use(startReceiver());
  const store = parts.use(await freshDatabase());
  const database: Database = parts.use(await store.open());
  const configFile = join(store.dataDir, "gateway.yaml");
  const config = await Deno.readTextFile(
    new URL("../helpers/config.yaml", import.meta.url),
  );
  await Deno.writeTextFile(
    configFile,
    `${config}\nwebhooks: { timeout_seconds: 5 }\noutbound: { allow_private: true }\n`,
  );
  const { id: account } = await createAccount(database.sql, { name: "a" });
  const [made] = await enqueueEvent(database.sql, {
    account,
    taskId: "task_1",
    type: "task.succeeded",
    callbackUrl: receiver.url,
    data: { task_id: "task_1", status: "succeeded", output: [] },
  });
  const closing = parts.move();
  return {
    receiver,
    database,
    delivery: made!.id,
    start: () =>
      startProcess({
        DATA_DIR: store.dataDir,
        DATABASE_URL: store.databaseUrl!,
        GATEWAY_CONFIG: configFile,
        ADMIN_TOKEN: "0123456789abcdef",
        PORT: String(freePort()),
      }),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** Kills the process when its statement on `table` waits, so that the statement never happens. */
async function killBefore(
  { sql }: Database,
  process: GatewayProcess,
  table: string,
  release: () => Promise<void>,
): Promise<void> {
  let waiting: { pid: number }[] = [];
  await until("its statement waits", async () => {
    waiting = await sql<{ pid: number }[]>`
      select distinct pid from pg_locks
       where relation = ${table}::text::regclass and not granted`;
    return waiting.length > 0;
  }, 60);
  process.signal("SIGKILL");
  await process.ended;
  // A server goes on with what it was sent: the death of the client has to reach it first.
  for (const { pid } of waiting) await sql`select pg_terminate_backend(${pid})`;
  await release();
}

/** Locks a table against all other sessions until released. */
async function keepFrom({ sql }: Database, table: string): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const keeping = sql.begin(async (tx) => {
    await tx.unsafe(`lock table ${table} in access exclusive mode`);
    held.resolve();
    await over.promise;
  });
  await held.promise;
  return async () => {
    over.resolve();
    await keeping;
  };
}

Deno.test("a node killed after the receiver's 200 and before it recorded it: sent again with the same id", async () => {
  await using ground = await openGround();
  const { database, receiver } = ground;
  {
    await using first = ground.start();
    await first.says(/listens on/);
    // Sent, answered, and then there is nowhere to write it down.
    const release = await keepFrom(database, "webhook_attempt");
    await killBefore(database, first, "webhook_attempt", release);
  }
  assert.equal(receiver.received.length, 1);
  const [row] = await database
    .sql`select state, attempts, wake_at > now() as leased from webhook_delivery`;
  assert.deepEqual({ ...row }, { state: "pending", attempts: 0, leased: true });
  // Its lease is over sooner than a test would wait for it.
  await database.sql`update webhook_delivery set wake_at = now()`;
  await using second = ground.start();
  await until(
    "it was sent again and recorded",
    async () =>
      (await database.sql`select from webhook_delivery where state = 'delivered'`).length === 1,
    60,
  );
  assert.equal(receiver.received.length, 2);
  const [one, two] = receiver.received;
  assert.equal(one!.headers["webhook-id"], two!.headers["webhook-id"]);
  assert.equal(one!.body, two!.body);
  assert.ok(second.pid > 0);
});

Deno.test("a node killed before it sent an event: sent once", async () => {
  await using ground = await openGround();
  const { database, receiver } = ground;
  {
    const release = await keepFrom(database, "webhook_event");
    await using first = ground.start();
    await killBefore(database, first, "webhook_event", release);
  }
  assert.equal(receiver.received.length, 0);
  await using second = ground.start();
  await until(
    "it was sent and recorded",
    async () =>
      (await database.sql`select from webhook_delivery where state = 'delivered'`).length === 1,
    60,
  );
  assert.equal(receiver.received.length, 1);
  assert.ok(second.pid > 0);
});
