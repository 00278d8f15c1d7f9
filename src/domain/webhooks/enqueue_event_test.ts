import assert from "node:assert/strict";
import { createAccount } from "../accounts/accounts.ts";
import { newId } from "../../lib/ids.ts";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { enqueueEvent } from "../../../test/helpers/enqueue_event.ts";
import type { NewEvent } from "./event.ts";

const event = (account: string, more: Partial<NewEvent> = {}): NewEvent => ({
  account,
  taskId: `task_${crypto.randomUUID()}`,
  type: "task.succeeded",
  callbackUrl: null,
  data: { task_id: "task_1", status: "succeeded", output: [] },
  ...more,
});

Deno.test("an event goes to the callback of its request, else to the endpoints that want it, once", async () => {
  await using store = await freshDatabase();
  await using database = await store.open();
  const { sql } = database;
  const { id: account } = await createAccount(sql, { name: "a" });
  const { id: other } = await createAccount(sql, { name: "b" });
  const add = async (owner: string, name: string, more: Record<string, unknown> = {}) => {
    const row = {
      id: newId("we"),
      account_id: owner,
      url: `https://${name}.example/`,
      host: `${name}.example`,
      ...more,
    };
    await sql`insert into webhook_endpoint ${sql(row)}`;
  };
  assert.deepEqual(await enqueueEvent(sql, event(account)), []);
  assert.equal((await sql`select from webhook_event`).length, 0);

  await add(account, "all");
  await add(account, "failures", { event_types: ["task.failed"] });
  await add(account, "off", { disabled_at: new Date(), disabled_reason: "owner" });
  await add(account, "gone", { deleted_at: new Date() });
  await add(other, "stranger");
  const urls = async (messages: readonly { id: string }[]) =>
    (await sql<{ url: string }[]>`
      select url from webhook_delivery where id = any (${
      messages.map(({ id }) => id)
    }) order by id`)
      .map(({ url }) => url);

  const first = event(account);
  assert.deepEqual(await urls(await enqueueEvent(sql, first)), ["https://all.example/"]);
  assert.deepEqual(await enqueueEvent(sql, first), [], "a task has one event");
  assert.deepEqual(
    await urls(await enqueueEvent(sql, event(account, { type: "task.failed" }))),
    ["https://all.example/", "https://failures.example/"],
  );
  assert.deepEqual(
    await urls(
      await enqueueEvent(sql, event(account, { callbackUrl: "https://own.example:8443/x" })),
    ),
    ["https://own.example:8443/x"],
  );
  const [row] = await sql<
    [{ destination: string }]
  >`select destination from webhook_delivery where endpoint_id is null`;
  assert.equal(row.destination, `${account}/own.example:8443`);
});

Deno.test("an event that is rolled back with its task leaves nothing", async () => {
  await using store = await freshDatabase();
  await using database = await store.open();
  const { sql } = database;
  const { id: account } = await createAccount(sql, { name: "a" });
  await assert.rejects(sql.begin(async (tx) => {
    const made = await enqueueEvent(tx, event(account, { callbackUrl: "https://own.example/" }));
    assert.equal(made.length, 1);
    throw new Error("no");
  }));
  assert.equal((await sql`select from webhook_event`).length, 0);
  assert.equal((await sql`select from webhook_delivery`).length, 0);
});
