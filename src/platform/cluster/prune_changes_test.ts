import assert from "node:assert/strict";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { pruneChanges } from "./prune_changes.ts";

Deno.test("changes older than 400 days are deleted, but not the newest one", async () => {
  await using store = await freshDatabase();
  await using database = await store.open();
  const { sql } = database;
  const add = (days: number) =>
    sql`insert into change (topic, subject, created_at)
        values ('key', ${`${days}`}, now() - make_interval(days => ${days}))`;
  const subjects = async () =>
    (await sql`select subject from change order by number`).map(({ subject }) => subject);
  await add(500);
  await add(450);
  await pruneChanges(sql);
  assert.deepEqual(await subjects(), ["450"]);
  await add(399);
  await pruneChanges(sql);
  assert.deepEqual(await subjects(), ["399"]);
});

Deno.test("activations older than 400 days are deleted, but not of a version that a node serves", async () => {
  await using store = await freshDatabase();
  await using database = await store.open();
  const { sql } = database;
  await sql`insert into node (id, seen_at, config_version) values ('node_1', now(), 'served')`;
  for (const [version, days] of [["old", 401], ["served", 401], ["young", 399]] as const) {
    await sql`
      insert into config_activation values (${version}, now() - make_interval(days => ${days}))`;
  }
  await pruneChanges(sql);
  const rows = await sql`select version from config_activation order by version`;
  assert.deepEqual(rows.map(({ version }) => version), ["served", "young"]);
});
