import assert from "node:assert/strict";
import { freshDatabase } from "../test/helpers/fresh_database.ts";
import { migrateQueue } from "../src/platform/queue/graphile_queue.ts";
import { QUEUE_SCHEMA, QUEUE_TABLES } from "./queue_tables.ts";
import { boundOfTable, writeSchemaPage } from "./schema_page.ts";

const PAGE = new URL("../docs/contribute/schema.md", import.meta.url);

Deno.test("docs/contribute/schema.md describes the schema of this build", async () => {
  await using fresh = await freshDatabase();
  await using database = await fresh.open();
  const page = await writeSchemaPage(database.sql);
  assert.equal(await Deno.readTextFile(PAGE), page, "stale: run `deno task generate`");
});

Deno.test("every table says what bounds it, and the page of a schema with one that does not fails", async () => {
  await using fresh = await freshDatabase();
  await using database = await fresh.open();
  const { sql } = database;
  const tables = await sql<{ name: string; comment: string | null }[]>`
    select relname as name, obj_description(oid, 'pg_class') as comment from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`;
  const unbounded = tables.filter(({ comment }) => boundOfTable(comment) === null);
  assert.deepEqual(unbounded.map(({ name }) => name), []);
  await sql`create table diary (page text)`;
  await sql`comment on table diary is 'What happened.'`;
  await assert.rejects(writeSchemaPage(sql), /table diary does not say what bounds it/);
});

Deno.test({
  name: "every table of the queue on Postgres is on the page, and says what bounds it",
  ignore: Deno.env.get("TEST_STORE") === "embedded",
  async fn() {
    await using fresh = await freshDatabase();
    await using database = await fresh.open();
    await migrateQueue(database.sql, fresh.databaseUrl!);
    const tables = await database.sql<{ name: string }[]>`
      select n.nspname || '.' || relname as name from pg_class c join pg_namespace n on n.oid = relnamespace
       where relkind in ('r', 'p') and nspname not in ('public', 'pg_catalog', 'information_schema')`;
    assert.deepEqual(
      QUEUE_TABLES.map(({ name }) => `${QUEUE_SCHEMA}.${name}`).sort(),
      tables.map(({ name }) => name).sort(),
    );
    const page = await Deno.readTextFile(PAGE);
    for (const { name, bound } of QUEUE_TABLES) {
      assert.ok(page.includes(`| ${QUEUE_SCHEMA}.${name} | ${bound} |`), name);
      assert.ok(page.includes(`### ${QUEUE_SCHEMA}.${name}\n`), name);
    }
  },
});
