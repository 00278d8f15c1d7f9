import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { migrate } from "./migrate.ts";
import { StorageError } from "./storage_error.ts";

/** A folder of migrations that a test may write to, beginning with one that is not shipped. */
async function temporaryMigrations(files: Record<string, string>) {
  const path = await Deno.makeTempDir({ prefix: "tollgate-migrations-" });
  const write = (file: string, text: string) => Deno.writeTextFile(join(path, file), text);
  for (const [file, text] of Object.entries(files)) await write(file, text);
  return {
    url: pathToFileURL(path + "/"),
    write,
    remove: (file: string) => Deno.remove(join(path, file)),
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

const STRICT = { sanitizeOps: true, sanitizeResources: true };

/** An empty database: the fresh one without what the shipped migrations made. */
async function openEmpty() {
  const fresh = await freshDatabase();
  const database = await fresh.open();
  const { sql } = database;
  await sql`drop schema public cascade`;
  await sql`create schema public`;
  return {
    sql,
    fresh,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await fresh[Symbol.asyncDispose]();
    },
  };
}

Deno.test("ten callers at once apply every migration exactly once", STRICT, async () => {
  await using empty = await openEmpty();
  await using folder = await temporaryMigrations({
    "0001_first.sql": "create table first (id int); insert into first values (1);",
    "0002_second.sql": "insert into first values (2); select pg_sleep(0.05);",
  });
  const results = await Promise.all(
    Array.from({ length: 10 }, () => migrate(empty.sql, folder.url)),
  );
  assert.deepEqual(results.flatMap(({ applied }) => applied).sort(), [
    "0001_first.sql",
    "0002_second.sql",
  ]);
  assert.deepEqual([...await empty.sql`select id from first order by id`], [{ id: 1 }, { id: 2 }]);
});

Deno.test("the shipped migrations are applied in order and then not again", STRICT, async () => {
  await using empty = await openEmpty();
  const { applied } = await migrate(empty.sql);
  assert.equal(applied[0], "0001_accounts.sql");
  assert.deepEqual(await migrate(empty.sql), { applied: [] });
  const [row] = await empty.sql`select number, name, applied_at from migration order by number`;
  assert.equal(row!.number, 1);
  assert.equal(row!.name, "accounts");
  assert.ok(row!.applied_at instanceof Date);
});

Deno.test("a migration that fails leaves nothing behind and names itself", STRICT, async () => {
  await using empty = await openEmpty();
  await using folder = await temporaryMigrations({
    "0001_good.sql": "create table good (id int)",
    "0002_bad.sql": "create table half (id int);\nselect no_such_column from good;",
  });
  await assert.rejects(migrate(empty.sql, folder.url), (error: Error) => {
    assert.ok(error instanceof StorageError);
    assert.match(error.message, /^Cannot apply migration 0002_bad\.sql, line 2: .*no_such_column/);
    return true;
  });
  const [{ good, half }] = await empty.sql<[{ good: string; half: null }]>`
    select to_regclass('good')::text as good, to_regclass('half')::text as half`;
  assert.deepEqual({ good, half }, { good: "good", half: null });
  // Mended, it goes through: only applied migrations are frozen.
  await folder.write("0002_bad.sql", "create table half (id int)");
  assert.deepEqual(await migrate(empty.sql, folder.url), { applied: ["0002_bad.sql"] });
});

Deno.test("a migration changed after it was applied is refused", STRICT, async () => {
  await using empty = await openEmpty();
  await using folder = await temporaryMigrations({ "0001_a.sql": "select 1;\nselect 2;\n" });
  await migrate(empty.sql, folder.url);
  await folder.write("0001_a.sql", "select 1;\r\nselect 2;\r\n");
  await migrate(empty.sql, folder.url); // other line endings are no change
  await folder.write("0001_a.sql", "select 3;");
  await assert.rejects(
    migrate(empty.sql, folder.url),
    new StorageError(
      "Migration 0001_a.sql was changed after it was applied to this database. " +
        "Restore the file, and put the change into a new migration.",
    ),
  );
});

Deno.test("a database newer than this build is refused", STRICT, async () => {
  await using empty = await openEmpty();
  await using folder = await temporaryMigrations({
    "0001_a.sql": "select 1",
    "0002_b.sql": "select 2",
  });
  await migrate(empty.sql, folder.url);
  await folder.remove("0002_b.sql");
  await assert.rejects(migrate(empty.sql, folder.url), {
    name: "StorageError",
    message: /database is newer than this build: it has migration 2 \(b\).*Upgrade/,
  });
});

Deno.test("a gap between the migration files is refused", STRICT, async () => {
  await using empty = await openEmpty();
  await using folder = await temporaryMigrations({
    "0001_a.sql": "select 1",
    "0003_c.sql": "select 3",
  });
  await assert.rejects(migrate(empty.sql, folder.url), {
    name: "StorageError",
    message: /without a gap: expected 2, found 0003_c\.sql/,
  });
});

Deno.test("a hole in what the database has recorded is refused", STRICT, async () => {
  await using empty = await openEmpty();
  await using folder = await temporaryMigrations({
    "0001_a.sql": "select 1",
    "0002_b.sql": "select 2",
  });
  await migrate(empty.sql, folder.url);
  await empty.sql`delete from migration where number = 1`;
  await assert.rejects(migrate(empty.sql, folder.url), {
    name: "StorageError",
    message: /lacks migration 0001_a\.sql although 2 \(b\) is recorded/,
  });
});
