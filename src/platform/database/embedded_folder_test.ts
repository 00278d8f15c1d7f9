import assert from "node:assert/strict";
import { join } from "node:path";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { openDatabase } from "./postgres.ts";
import { sleep } from "../../lib/timers.ts";
import { noLog } from "../../../test/helpers/logs.ts";

const EMBEDDED = {
  sanitizeOps: true,
  sanitizeResources: true,
  ignore: Deno.env.get("TEST_STORE") !== "embedded",
};

Deno.test(
  "a database that lacks any of its parts is refused and left as it is",
  EMBEDDED,
  async () => {
    await using fresh = await freshDatabase();
    {
      await using database = await fresh.open();
      await database.sql`insert into account (id, name) values ('acct_kept', 'kept')`;
    }
    const folder = join(fresh.dataDir, "postgres");
    const aside = join(fresh.dataDir, "aside");
    for (const missing of ["PG_VERSION", "global/pg_control", "base", "pg_wal"]) {
      await Deno.rename(join(folder, missing), aside);
      const before = listing(folder);
      await assert.rejects(fresh.open(), {
        name: "StorageError",
        message: `The embedded database in ${folder} is damaged: ${missing} is missing. Stop the ` +
          "gateway, restore this folder from your backup, or move it away to start with an empty " +
          "database.",
      });
      assert.deepEqual(listing(folder), before, missing);
      await Deno.rename(aside, join(folder, missing));
    }
    await using database = await fresh.open();
    const rows = await database.sql`select name from account where id = 'acct_kept'`;
    assert.deepEqual([...rows], [{ name: "kept" }]);
  },
);

Deno.test("a folder with other files in it is rejected and left unchanged", EMBEDDED, async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "tollgate-test-" });
  const folder = join(dataDir, "postgres");
  await Deno.mkdir(folder);
  await Deno.writeTextFile(join(folder, "notes.txt"), "mine");
  await assert.rejects(openDatabase({ dataDir, log: noLog }), {
    name: "StorageError",
    message: /^The folder .*\/postgres is not empty and not a database .* restore this folder/,
  });
  assert.equal(await Deno.readTextFile(join(folder, "notes.txt")), "mine");
  await Deno.remove(dataDir, { recursive: true });
});

Deno.test(
  "a start that was killed while it created the database starts over",
  EMBEDDED,
  async () => {
    const dataDir = await Deno.makeTempDir({ prefix: "tollgate-test-" });
    const creating = join(dataDir, "postgres.creating");
    const code = `
    import { openDatabase } from ${JSON.stringify(import.meta.resolve("./postgres.ts"))};
    import { noLog } from ${JSON.stringify(import.meta.resolve("../../../test/helpers/logs.ts"))};
    await openDatabase({ dataDir: ${JSON.stringify(dataDir)}, log: noLog });`;
    const process = new Deno.Command(Deno.execPath(), {
      args: ["eval", "--ext=ts", code],
      cwd: join(import.meta.dirname!, "../../.."),
      stdin: "null",
    }).spawn();
    // In the middle of it: the first files are there, and the database is not.
    const giveUpAt = performance.now() + 60_000;
    while (!exists(join(creating, "PG_VERSION")) && performance.now() < giveUpAt) {
      await sleep(5);
    }
    assert.ok(exists(creating), "it is created under another name");
    process.kill("SIGKILL");
    await process.status;
    assert.ok(!exists(join(dataDir, "postgres")), "what is not complete does not have the name");
    {
      await using database = await openDatabase({ dataDir, log: noLog });
      await database.ping();
    }
    assert.deepEqual([...Deno.readDirSync(dataDir)].map(({ name }) => name).sort(), [
      "lock",
      "postgres",
    ]);
    await Deno.remove(dataDir, { recursive: true });
  },
);

Deno.test("a backup that was restored beside an old marker is not removed", EMBEDDED, async () => {
  await using fresh = await freshDatabase();
  const marker = join(fresh.dataDir, "creating");
  await Deno.writeTextFile(marker, "");
  await assert.rejects(fresh.open(), { name: "StorageError", message: /remove the file/ });
  await Deno.remove(marker);
  await using database = await fresh.open();
  await database.ping();
});

function listing(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
