import assert from "node:assert/strict";
import { freshDatabase } from "../test/helpers/fresh_database.ts";
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
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname not in ('migration', 'migration_function')`;
  const unbounded = tables.filter(({ comment }) => boundOfTable(comment) === null);
  assert.deepEqual(unbounded.map(({ name }) => name), []);
  await sql`create table diary (page text)`;
  await sql`comment on table diary is 'What happened.'`;
  await assert.rejects(writeSchemaPage(sql), /table diary does not say what bounds it/);
});
