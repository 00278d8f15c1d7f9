import assert from "node:assert/strict";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { deleteFullBuckets, lend } from "./rate_loans.ts";

Deno.test("loans come in the order of the requests", async () => {
  await using store = await freshDatabase();
  await using database = await store.open();
  const ask = (key: string, want: number) => ({ key, settle: 0, need: 0, want });
  const loans = await lend(database.sql, [ask("z", 1_000), ask("a", 2_000), ask("m", 3_000)]);
  assert.deepEqual(loans.map(({ lent }) => Math.round(lent)), [1_000, 2_000, 3_000]);
});

Deno.test("rows of buckets that have been full for a minute are deleted", async () => {
  await using store = await freshDatabase();
  await using database = await store.open();
  const { sql } = database;
  const now = Date.now();
  for (const [key, ago] of [["old", 70_000], ["young", 50_000], ["used", -5_000]] as const) {
    await sql`insert into rate_bucket (key, full_at) values (${key}, ${now - ago})`;
  }
  await deleteFullBuckets(sql);
  const rows = await sql<{ key: string }[]>`select key from rate_bucket order by key`;
  assert.deepEqual(rows.map(({ key }) => key), ["used", "young"]);
});
