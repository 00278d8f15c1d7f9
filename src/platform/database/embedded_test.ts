import assert from "node:assert/strict";
import { join } from "node:path";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { isStorageDown, openDatabase } from "./postgres.ts";
import { noLog, recordLog } from "../../../test/helpers/logs.ts";

const EMBEDDED = {
  sanitizeOps: true,
  sanitizeResources: true,
  ignore: Deno.env.get("TEST_STORE") !== "embedded",
};

/** Another process that opens the folder, runs `work` with `sql`, says so, and stays. */
async function openElsewhere(dataDir: string, work = "") {
  const code = `
    import { openDatabase } from ${JSON.stringify(import.meta.resolve("./postgres.ts"))};
    import { noLog } from ${JSON.stringify(import.meta.resolve("../../../test/helpers/logs.ts"))};
    try {
      const { sql } = await openDatabase({ dataDir: ${JSON.stringify(dataDir)}, log: noLog });
      ${work}
      console.log("open");
    } catch (error) {
      console.log(error.name + ": " + error.message);
      Deno.exit(1);
    }`;
  const process = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--ext=ts", code],
    cwd: join(import.meta.dirname!, "../../.."),
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await reader.read();
  return {
    said: value!.trim(),
    pid: process.pid,
    async kill() {
      process.kill("SIGKILL");
      await process.status;
      await reader.cancel();
    },
  };
}

Deno.test(
  "a folder in use is refused to a second process, and available after kill -9",
  EMBEDDED,
  async () => {
    await using fresh = await freshDatabase();
    const { dataDir } = fresh;
    const other = await openElsewhere(dataDir);
    assert.equal(other.said, "open");
    await assert.rejects(fresh.open(), {
      name: "StorageError",
      message: `The data folder ${dataDir} is in use by another gateway (process ${other.pid}). ` +
        "Stop that one, give this one a folder of its own with DATA_DIR, or let both share a " +
        "Postgres server with DATABASE_URL.",
    });
    await other.kill();
    await using database = await fresh.open();
    assert.equal((await database.sql`select 1`).length, 1);
    const third = await openElsewhere(dataDir);
    assert.match(third.said, new RegExp(`^StorageError: .*\\(process ${Deno.pid}\\)`));
    await third.kill().catch(() => undefined);
  },
);

Deno.test("what was confirmed survives kill -9", EMBEDDED, async () => {
  await using fresh = await freshDatabase();
  const other = await openElsewhere(
    fresh.dataDir,
    `await sql\`create table entry (id int)\`;
     for (let i = 0; i < 50; i++) await sql\`insert into entry values (\${i})\`;
     await sql.begin((tx) => tx\`insert into entry values (50)\`);
     sql.begin(async (tx) => {
       await tx\`insert into entry values (51)\`;
       await new Promise(() => {});
     });
     await new Promise((resume) => setTimeout(resume, 50));`,
  );
  assert.equal(other.said, "open");
  await other.kill();
  await using database = await fresh.open();
  const [row] = await database.sql`select count(*)::int as n, max(id) as last from entry`;
  assert.deepEqual(row, { n: 51, last: 50 });
});

Deno.test("a first start that was interrupted starts over", EMBEDDED, async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "tollgate-test-" });
  const folder = join(dataDir, "postgres");
  await Deno.mkdir(folder);
  await Deno.writeTextFile(join(folder, "PG_VERSION"), "18\n");
  await Deno.writeTextFile(join(dataDir, "creating"), "");
  const said: string[] = [];
  {
    await using database = await openDatabase({
      dataDir,
      log: recordLog((_, message) => said.push(message)),
    });
    assert.equal(database.kind, "embedded");
    assert.equal(database.describe, folder);
    await database.ping();
  }
  assert.deepEqual(said, ["embedded database is being created"]);
  assert.deepEqual([...Deno.readDirSync(dataDir)].map(({ name }) => name).sort(), [
    "lock",
    "postgres",
  ]);
  assert.equal((await Deno.stat(folder)).mode! & 0o077, 0);
  await Deno.remove(dataDir, { recursive: true });
});

Deno.test(
  "a folder with a very long name works too, and can be opened again",
  EMBEDDED,
  async () => {
    await using fresh = await freshDatabase();
    const dataDir = join(fresh.dataDir, "a".repeat(120));
    await Deno.mkdir(dataDir);
    await Deno.rename(join(fresh.dataDir, "postgres"), join(dataDir, "postgres"));
    for (let i = 0; i < 2; i++) {
      await using database = await openDatabase({ dataDir, log: noLog });
      assert.equal((await database.sql`select id from account`).length, 0);
    }
  },
);

Deno.test("it waits for the disk before it confirms", EMBEDDED, async () => {
  await using fresh = await freshDatabase();
  await using database = await fresh.open();
  const rows = await database.sql`
    select name, setting from pg_settings
     where name in ('fsync', 'full_page_writes', 'synchronous_commit') order by name`;
  assert.deepEqual(rows.map(({ setting }) => setting), ["on", "on", "on"]);
});

Deno.test("when the engine dies, queries fail instead of waiting", EMBEDDED, async () => {
  await using fresh = await freshDatabase();
  const said: string[] = [];
  const { Worker } = globalThis;
  const workers: Worker[] = [];
  // The only way to reach a worker that the database keeps to itself.
  globalThis.Worker = class extends Worker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super(...args);
      workers.push(this);
    }
  };
  try {
    await using database = await openDatabase({
      dataDir: fresh.dataDir,
      log: recordLog((_, message) => said.push(message)),
    });
    const { sql } = database;
    await sql`select 1`;
    const running = sql`select pg_sleep(5)`;
    running.catch(() => undefined);
    workers[0]!.onmessage!(new MessageEvent("message", { data: { failed: "out of memory" } }));
    await assert.rejects(async () => await running, (error) => isStorageDown(error));
    await assert.rejects(async () => await sql`select 1`, (error) => isStorageDown(error));
    await assert.rejects(sql.begin((tx) => tx`select 1`), (error) => isStorageDown(error));
    await assert.rejects(database.ping(), (error) => isStorageDown(error));
    assert.deepEqual(said, ["embedded database failed, restarting"]);
  } finally {
    globalThis.Worker = Worker;
  }
});

Deno.test("files that are not a database are reported with their folder", EMBEDDED, async () => {
  await using fresh = await freshDatabase();
  await Deno.writeTextFile(join(fresh.dataDir, "postgres", "PG_VERSION"), "9.6\n");
  await assert.rejects(fresh.open(), {
    name: "StorageError",
    message: /^Cannot open the embedded database in .*\/postgres: /,
  });
});
