import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CHECKED_UNLESS_SHARED, shareDatabase } from "../../../test/helpers/share_database.ts";
import { migrate } from "./migrate.ts";
import { StorageError } from "./storage_error.ts";

/** A folder of SQL files that a test may write to. */
async function temporarySql(files: Record<string, string>) {
  const path = await Deno.makeTempDir({ prefix: "tollgate-sql-" });
  const write = (file: string, text: string) => Deno.writeTextFile(join(path, file), text);
  for (const [file, text] of Object.entries(files)) await write(file, text);
  return {
    url: pathToFileURL(path + "/"),
    write,
    remove: (file: string) => Deno.remove(join(path, file)),
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

const openDatabase = shareDatabase();

/** An empty database: one without what the shipped migrations or another test made. */
async function openEmpty() {
  const database = await openDatabase();
  await database.sql`drop schema public cascade`;
  await database.sql`create schema public`;
  return database;
}

Deno.test(
  "ten callers at once apply every migration exactly once",
  CHECKED_UNLESS_SHARED,
  async () => {
    await using empty = await openEmpty();
    await using folder = await temporarySql({
      "0001_first.sql": "create table first (id int); insert into first values (1);",
      "0002_second.sql": "insert into first values (2); select pg_sleep(0.05);",
    });
    const results = await Promise.all(
      Array.from({ length: 10 }, () => migrate(empty.sql, { schema: folder.url })),
    );
    assert.deepEqual(results.flatMap(({ applied }) => applied).sort(), [
      "0001_first.sql",
      "0002_second.sql",
    ]);
    assert.deepEqual([...await empty.sql`select id from first order by id`], [{ id: 1 }, {
      id: 2,
    }]);
  },
);

Deno.test(
  "the shipped migrations are applied in order and then not again",
  CHECKED_UNLESS_SHARED,
  async () => {
    await using empty = await openEmpty();
    const { applied, functions } = await migrate(empty.sql);
    assert.equal(applied[0], "0001_baseline.sql");
    assert.ok(functions.includes("ledger_run"));
    assert.deepEqual(await migrate(empty.sql), { applied: [], functions: [] });
    const [row] = await empty.sql`select number, name, applied_at from migration order by number`;
    assert.equal(row!.number, 1);
    assert.equal(row!.name, "baseline");
    assert.ok(row!.applied_at instanceof Date);
  },
);

Deno.test(
  "a migration that fails leaves nothing behind and names itself",
  CHECKED_UNLESS_SHARED,
  async () => {
    await using empty = await openEmpty();
    await using folder = await temporarySql({
      "0001_good.sql": "create table good (id int)",
      "0002_bad.sql": "create table half (id int);\nselect no_such_column from good;",
    });
    await assert.rejects(migrate(empty.sql, { schema: folder.url }), (error: Error) => {
      assert.ok(error instanceof StorageError);
      assert.match(
        error.message,
        /^Cannot apply migration 0002_bad\.sql, line 2: .*no_such_column/,
      );
      return true;
    });
    const [{ good, half }] = await empty.sql<[{ good: null; half: null }]>`
    select to_regclass('good')::text as good, to_regclass('half')::text as half`;
    assert.deepEqual({ good, half }, { good: null, half: null });
    // Only applied migrations may not be changed: corrected, it is applied.
    await folder.write("0002_bad.sql", "create table half (id int)");
    assert.deepEqual((await migrate(empty.sql, { schema: folder.url })).applied, [
      "0001_good.sql",
      "0002_bad.sql",
    ]);
  },
);

Deno.test(
  "a migration changed after it was applied is refused",
  CHECKED_UNLESS_SHARED,
  async () => {
    await using empty = await openEmpty();
    await using folder = await temporarySql({ "0001_a.sql": "select 1;\nselect 2;\n" });
    await migrate(empty.sql, { schema: folder.url });
    await folder.write("0001_a.sql", "select 1;\r\nselect 2;\r\n");
    await migrate(empty.sql, { schema: folder.url }); // other line endings are no change
    await folder.write("0001_a.sql", "select 3;");
    await assert.rejects(
      migrate(empty.sql, { schema: folder.url }),
      new StorageError(
        "Migration 0001_a.sql was changed after it was applied to this database. " +
          "Restore the file, and put the change into a new migration.",
      ),
    );
  },
);

Deno.test("a database newer than this build is refused", CHECKED_UNLESS_SHARED, async () => {
  await using empty = await openEmpty();
  await using folder = await temporarySql({
    "0001_a.sql": "select 1",
    "0002_b.sql": "select 2",
  });
  await migrate(empty.sql, { schema: folder.url });
  await folder.remove("0002_b.sql");
  await assert.rejects(migrate(empty.sql, { schema: folder.url }), {
    name: "StorageError",
    message: /database is newer than this build: it has migration 2 \(b\).*Upgrade/,
  });
});

Deno.test("a gap between the migration files is refused", CHECKED_UNLESS_SHARED, async () => {
  await using empty = await openEmpty();
  await using folder = await temporarySql({
    "0001_a.sql": "select 1",
    "0003_c.sql": "select 3",
  });
  await assert.rejects(migrate(empty.sql, { schema: folder.url }), {
    name: "StorageError",
    message: /without a gap: expected 2, found 0003_c\.sql/,
  });
});

Deno.test("a gap in the recorded migrations is refused", CHECKED_UNLESS_SHARED, async () => {
  await using empty = await openEmpty();
  await using folder = await temporarySql({
    "0001_a.sql": "select 1",
    "0002_b.sql": "select 2",
  });
  await migrate(empty.sql, { schema: folder.url });
  await empty.sql`delete from migration where number = 1`;
  await assert.rejects(migrate(empty.sql, { schema: folder.url }), {
    name: "StorageError",
    message: /lacks migration 0001_a\.sql although 2 \(b\) is recorded/,
  });
});

Deno.test(
  "a database with the schema before the baseline is refused with what to do",
  CHECKED_UNLESS_SHARED,
  async () => {
    await using empty = await openEmpty();
    await empty.sql`
    create table migration (
      number int primary key, name text not null, checksum text not null, applied_at timestamptz)`;
    await empty
      .sql`insert into migration values (1, 'accounts', 'x', now()), (2, 'ledger', 'y', now())`;
    await assert.rejects(
      migrate(empty.sql),
      new StorageError(
        "The database has the schema of a pre-release build, which this build cannot upgrade: " +
          "export what you need with the build that made it, then start this one with an empty " +
          "database (another DATABASE_URL or DATA_DIR).",
      ),
    );
  },
);

const NO_MIGRATION = { "0001_table.sql": "create table thing (id int)" };
const double = (type: string, factor: number) =>
  `create or replace function double(n ${type}) returns ${type} language sql as 'select n * ${factor}';`;

Deno.test(
  "a function is created again when its text changes, and only then",
  CHECKED_UNLESS_SHARED,
  async () => {
    await using empty = await openEmpty();
    await using schema = await temporarySql(NO_MIGRATION);
    await using functions = await temporarySql({
      // Refers to a function whose file comes later.
      "a_first.sql":
        "create or replace function a_first() returns int language sql as 'select double(1)';",
      "double.sql": double("int", 2),
    });
    const run = async () =>
      (await migrate(empty.sql, { schema: schema.url, functions: functions.url })).functions;
    assert.deepEqual(await run(), ["a_first", "double"]);
    assert.deepEqual(await run(), []);
    await functions.write("double.sql", double("int", 3));
    assert.deepEqual(await run(), ["double"]);
    assert.deepEqual([...await empty.sql`select a_first() as n`], [{ n: 3 }]);
    await empty.sql`drop function double(int)`;
    assert.deepEqual(await run(), ["double"]);
  },
);

Deno.test(
  "a function whose arguments, result or parameter names change replaces the old one",
  CHECKED_UNLESS_SHARED,
  async () => {
    await using empty = await openEmpty();
    await using schema = await temporarySql(NO_MIGRATION);
    await using functions = await temporarySql({ "double.sql": double("int", 2) });
    const texts = {
      "other argument types": double("bigint", 2),
      "another result":
        "create or replace function double(n bigint) returns text language sql as 'select n::text';",
      "another parameter name":
        "create or replace function double(m bigint) returns text language sql as 'select m::text';",
      "another result and another argument":
        "create or replace function double(m text) returns setof text language sql as 'select m';",
    };
    await migrate(empty.sql, { schema: schema.url, functions: functions.url });
    for (const [change, text] of Object.entries(texts)) {
      await functions.write("double.sql", text);
      await migrate(empty.sql, { schema: schema.url, functions: functions.url });
      const rows = await empty.sql<{ text: string }[]>`
      select 'create or replace function double(' || pg_get_function_arguments(oid) || ')' as text
        from pg_proc where proname = 'double'`;
      assert.equal(rows.length, 1, change);
      assert.ok(text.startsWith(rows[0]!.text), change);
    }
  },
);

Deno.test("a trigger survives the replacement of its function", CHECKED_UNLESS_SHARED, async () => {
  await using empty = await openEmpty();
  await using schema = await temporarySql(NO_MIGRATION);
  const text = (value: number) => `
    create or replace function set_id() returns trigger language plpgsql as $$
    begin new.id := ${value}; return new; end $$;
    create or replace trigger thing_id before insert on thing for each row execute function set_id();`;
  await using functions = await temporarySql({ "set_id.sql": text(1) });
  const folders = { schema: schema.url, functions: functions.url };
  await migrate(empty.sql, folders);
  await functions.write("set_id.sql", text(2));
  await migrate(empty.sql, folders);
  assert.deepEqual([...await empty.sql`insert into thing values (0) returning id`], [{ id: 2 }]);
});

Deno.test(
  "a function that fails its check leaves nothing behind and names its file",
  CHECKED_UNLESS_SHARED,
  async () => {
    await using empty = await openEmpty();
    await using schema = await temporarySql(NO_MIGRATION);
    await using functions = await temporarySql({
      "good.sql": "create or replace function good() returns int language sql as 'select 1';",
      "wrong.sql":
        "create or replace function wrong() returns int language sql as 'select missing()';",
    });
    await assert.rejects(migrate(empty.sql, { schema: schema.url, functions: functions.url }), {
      name: "StorageError",
      message: /^Cannot create the function of wrong\.sql.*missing/,
    });
    assert.deepEqual([...await empty.sql`select to_regproc('good')::text as name`], [{
      name: null,
    }]);
  },
);

Deno.test("a function file must be named after its function", CHECKED_UNLESS_SHARED, async () => {
  await using empty = await openEmpty();
  await using schema = await temporarySql(NO_MIGRATION);
  await using functions = await temporarySql({
    "one.sql": "create or replace function other() returns int language sql as 'select 1';",
  });
  await assert.rejects(migrate(empty.sql, { schema: schema.url, functions: functions.url }), {
    name: "StorageError",
    message: /^one\.sql must be named after the function that it creates/,
  });
});
