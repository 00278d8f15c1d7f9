import assert from "node:assert/strict";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { pruneIdempotencyKeys } from "./clean.ts";

Deno.test("keys that have expired are deleted, a thousand at a time; others and open ones stay", async () => {
  await using store = await freshDatabase();
  await using database = await store.open();
  const { sql } = database;
  const add = (key: string, count: number, expiresAt: Date | null) =>
    sql`
      insert into idempotency (account_id, key, path, body_hash, task_id, expires_at)
      select 'acc_1', ${key} || n, '/', '', '', ${expiresAt} from generate_series(1, ${count}) n`;
  await add("old", 1_001, new Date(Date.now() - 1000));
  await add("young", 1, new Date(Date.now() + 60_000));
  await add("open", 1, null);
  const left = async () =>
    (await sql<{ key: string }[]>`select key from idempotency order by key`).map(({ key }) => key);
  await pruneIdempotencyKeys(sql);
  assert.equal((await left()).length, 3);
  await pruneIdempotencyKeys(sql);
  assert.deepEqual(await left(), ["open1", "young1"]);
});
