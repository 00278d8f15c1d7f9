import assert from "node:assert/strict";
import { createAccount } from "../accounts/accounts.ts";
import { newId } from "../../lib/ids.ts";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { openSecretBox } from "../../platform/secrets/secret_box.ts";
import { makeSecret, rotateSecret } from "./secrets.ts";
import { pruneWebhooks } from "./prune_webhooks.ts";

Deno.test("what ended a month ago is removed with its log; what waits, and what is young, stays", async () => {
  await using store = await freshDatabase();
  await using database = await store.open();
  const { sql } = database;
  const { id: account } = await createAccount(sql, { name: "a" });
  const day = 86_400_000;
  const add = async (days: number, isPending: boolean) => {
    const at = new Date(Date.now() - days * day);
    const event = newId("evt", at.getTime());
    const id = `dlv_${event.slice(4)}01`;
    await sql`
      insert into webhook_event (id, account_id, task_id, type, data, created_at)
      values (${event}, ${account}, ${event}, 'task.failed', '{}', ${at})`;
    await sql`
      insert into webhook_delivery (id, event_id, account_id, url, destination, state, wake_at, ended_at)
      values (${id}, ${event}, ${account}, 'https://a.example/', 'l', ${
      isPending ? "pending" : "delivered"
    }, ${isPending ? at : null}, ${isPending ? null : at})`;
    await sql`
      insert into webhook_attempt (delivery_id, number, started_at, latency_ms, status)
      values (${id}, 1, ${at}, 5, 200)`;
    return id;
  };
  await add(31, false);
  await add(400, false);
  const kept = [await add(31, true), await add(29, false), await add(0, false)];
  const secretBox = openSecretBox([]);
  const owner = { account, endpoint: null };
  await makeSecret(sql, secretBox, owner);
  const { secret } = await rotateSecret(sql, secretBox, owner);
  await sql`update webhook_secret set expires_at = expires_at - interval '3 days'`;

  assert.equal(await pruneWebhooks(sql), 2);
  assert.equal(await pruneWebhooks(sql), 0);
  const ids = (await sql<{ id: string }[]>`select id from webhook_delivery`).map(({ id }) => id);
  assert.deepEqual(ids.sort(), kept.sort());
  assert.equal((await sql`select from webhook_event`).length, 3);
  assert.equal((await sql`select from webhook_attempt`).length, 3);
  const secrets = await sql<{ secret: string }[]>`select secret from webhook_secret`;
  assert.deepEqual(secrets.map((row) => row.secret), [secret]);
});
