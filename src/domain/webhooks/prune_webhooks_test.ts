import assert from "node:assert/strict";
import { createAccount } from "../accounts/accounts.ts";
import { newId } from "../../lib/ids.ts";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { createMissingPartitions } from "../../platform/database/partitioned_tables.ts";
import { createEndpoint, deleteEndpoint } from "./endpoints.ts";
import { openSecretBox } from "./secret_box.ts";
import { makeSecret, rotateSecret } from "./secrets.ts";
import { pruneWebhooks } from "./prune_webhooks.ts";

const KEEP_SINCE = new Date("2026-06-15T00:00:00Z");

async function openDeliveries() {
  await using parts = new AsyncDisposableStack();
  const store = parts.use(await freshDatabase());
  const { sql } = parts.use(await store.open());
  const { id: account } = await createAccount(sql, { name: "a" });
  const closing = parts.move();
  return {
    sql,
    account,
    /** A delivery of an event of that day, with one attempt. Without an end it is pending. */
    async add(day: string, endedOn: string | null = day) {
      const at = new Date(`${day}T12:00:00Z`);
      const endedAt = endedOn === null ? null : new Date(`${endedOn}T12:00:00Z`);
      const event = newId("evt", at.getTime());
      const id = `dlv_${event.slice(4)}01`;
      await sql`
        insert into webhook_event (id, account_id, task_id, type, data, created_at)
        values (${event}, ${account}, ${event}, 'task.failed', '{}', ${at})`;
      await sql`
        insert into webhook_delivery (id, event_id, account_id, url, destination, state, wake_at, ended_at)
        values (${id}, ${event}, ${account}, 'https://a.example/', 'l', ${
        endedAt === null ? "pending" : "delivered"
      }, ${endedAt === null ? at : null}, ${endedAt})`;
      await sql`
        insert into webhook_attempt (delivery_id, number, started_at, latency_ms, status)
        values (${id}, 1, ${at}, 5, 200)`;
      return id;
    },
    async counts() {
      const [row] = await sql`
        select (select count(*)::int from webhook_event) as events,
               (select count(*)::int from webhook_delivery) as deliveries,
               (select count(*)::int from webhook_attempt) as attempts`;
      return row;
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

Deno.test("a month of which all deliveries ended long ago is dropped with its log", async () => {
  await using webhooks = await openDeliveries();
  await webhooks.add("2026-04-01");
  await webhooks.add("2026-05-31");
  const young = await webhooks.add("2026-06-01");
  await createMissingPartitions(webhooks.sql, { isStart: true });
  const dropped = await pruneWebhooks(webhooks.sql, KEEP_SINCE);
  assert.deepEqual(dropped.sort(), [
    "webhook_attempt_2026_04",
    "webhook_attempt_2026_05",
    "webhook_delivery_2026_04",
    "webhook_delivery_2026_05",
    "webhook_event_2026_04",
    "webhook_event_2026_05",
  ]);
  assert.deepEqual(await pruneWebhooks(webhooks.sql, KEEP_SINCE), []);
  const rows = await webhooks.sql`select id from webhook_delivery`;
  assert.deepEqual(rows.map(({ id }) => id), [young]);
  assert.deepEqual({ ...await webhooks.counts() }, { events: 1, deliveries: 1, attempts: 1 });
});

Deno.test("a month stays while one of its deliveries is pending, or was sent again lately", async () => {
  await using webhooks = await openDeliveries();
  await webhooks.add("2026-03-01");
  await webhooks.add("2026-03-02", null);
  await webhooks.add("2026-04-01", "2026-06-20");
  await createMissingPartitions(webhooks.sql, { isStart: true });
  assert.deepEqual(await pruneWebhooks(webhooks.sql, KEEP_SINCE), []);
  assert.deepEqual({ ...await webhooks.counts() }, { events: 3, deliveries: 3, attempts: 3 });
});

Deno.test("expired secrets are deleted, and endpoints that no delivery can name any more", async () => {
  await using webhooks = await openDeliveries();
  const { sql, account } = webhooks;
  const secretBox = openSecretBox(undefined);
  const owner = { account, endpoint: null };
  await makeSecret(sql, secretBox, owner);
  const { secret } = await rotateSecret(sql, secretBox, owner);
  await sql`update webhook_secret set expires_at = expires_at - interval '3 days'`;
  const make = async (deletedAt: string | null) => {
    const { id } = await createEndpoint(sql, secretBox, account, { url: "https://a.example/" });
    if (deletedAt === null) return id;
    await deleteEndpoint(sql, account, id);
    await sql`update webhook_endpoint set deleted_at = ${deletedAt}::text::timestamptz where id = ${id}`;
    return id;
  };
  await make("2026-05-30T00:00:00Z");
  const kept = [await make("2026-06-02T00:00:00Z"), await make(null)];
  await webhooks.add("2026-06-01");
  await createMissingPartitions(sql, { isStart: true });
  await pruneWebhooks(sql, KEEP_SINCE);
  const endpoints = await sql`select id from webhook_endpoint order by id`;
  assert.deepEqual(endpoints.map(({ id }) => id), kept.sort());
  const secrets = await sql<{ secret: string }[]>`
    select secret from webhook_secret where endpoint_id is null`;
  assert.deepEqual(secrets.map((row) => row.secret), [secret]);
});
