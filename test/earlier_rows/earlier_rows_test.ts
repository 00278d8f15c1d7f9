import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { migrate } from "../../src/platform/database/migrate.ts";
import { SHIPPED_SQL } from "../../src/platform/database/read_sql_files.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { SHIPPED } from "../helpers/valid_config.ts";
import type { EarlierRows } from "./earlier_rows.ts";

/** The rows stay as old as they are, whenever this test runs. */
const CONFIG = `${SHIPPED}
storage: { keep: { task_days: 3650, webhook_days: 3650 } }
`;
const BASELINE = "0001_baseline.sql";
const { seen, rows }: EarlierRows = JSON.parse(
  await Deno.readTextFile(new URL("./rows.json", import.meta.url)),
);

/** A database as a gateway of the baseline schema left it. */
async function earlierDatabase() {
  const store = await freshDatabase();
  const folder = await Deno.makeTempDir({ prefix: "tollgate-sql-" });
  await Deno.copyFile(new URL(BASELINE, SHIPPED_SQL.schema), join(folder, BASELINE));
  await using database = await store.open();
  const { sql } = database;
  await sql`drop schema public cascade`;
  await sql`create schema public`;
  await migrate(sql, { schema: pathToFileURL(`${folder}/`) });
  await Deno.remove(folder, { recursive: true });
  await sql.begin(async (tx) => {
    // Tables may come before those that they refer to, and rows that triggers would write are there.
    await tx`set local session_replication_role = replica`;
    for (const [table, lines] of Object.entries(rows)) {
      const columns = await tx<{ name: string }[]>`
        select quote_ident(attname) as name from pg_attribute
         where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = ''`;
      const names = columns.map(({ name }) => name);
      await tx.unsafe(`delete from ${table}`);
      await tx.unsafe(
        `insert into ${table} (${names.join(", ")}) overriding system value
         select ${names.map((name) => `(line::${table}).${name}`).join(", ")}
           from unnest($1::text[]) as given(line)`,
        [lines],
      );
    }
  });
  return store;
}

Deno.test("a database of the baseline schema is migrated with all that was booked and promised", async () => {
  await using store = await earlierDatabase();
  await using gateway = await openMediaGateway({
    ...{ config: CONFIG, store, cash: "0", environment: { SIMULATE: "seconds=0" } },
  });
  const headers = { authorization: `Bearer ${seen.key}` };
  const read = async (path: string) => await (await gateway.get(path, headers)).json();
  // The simulator of this process does not know the job that was running: the task fails and costs nothing.
  for (let tries = 0; (await read(`/v1/tasks/${seen.running}`)).completed_at === null; tries++) {
    assert.ok(tries < 300, "the task that was running ends");
    await new Promise((resume) => setTimeout(resume, 100));
  }
  const { available_balance, frozen_balance } = await read("/v1/balance");
  assert.deepEqual([available_balance, frozen_balance], [seen.available, "0.00"]);
  const { data } = await read("/v1/usage?limit=100");
  const charged = new Map<string, string>(
    data.map((one: { request_id: string; settled: string }) => [one.request_id, one.settled]),
  );
  for (const [request, amount] of seen.charged) assert.equal(charged.get(request), amount, request);
  assert.ok(seen.charged.some(([, amount]) => Number(amount) > 0));
  const task = await read(`/v1/tasks/${seen.task}`);
  assert.deepEqual([task.status, task.output.length], ["succeeded", 1]);
  const { secret } = await read(`/v1/webhook_endpoints/${seen.endpoint}/secret`);
  assert.equal(secret, seen.secret);
  const deliveries = await read("/v1/webhook_deliveries");
  assert.ok(
    deliveries.data.some(({ event }: { event: { task_id: string } }) =>
      event.task_id === seen.task
    ),
  );
  const messages = [{ role: "user", content: "hello" }];
  const body = { model: "sim-chat", messages };
  const chat = await gateway.post("/v1/chat/completions", body, headers);
  assert.equal((await chat.json()).model, "sim-chat");
  await gateway.verify();
});
