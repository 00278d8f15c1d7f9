import assert from "node:assert/strict";
import { join } from "node:path";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import { smallDisk } from "../../../test/helpers/small_disk.ts";
import { type Database, isStorageDown, openDatabase } from "./postgres.ts";
import { sleep } from "../../lib/timers.ts";
import { noLog, recordLog } from "../../../test/helpers/logs.ts";

const EMBEDDED = { ignore: Deno.env.get("TEST_STORE") !== "embedded" };

async function copy(from: string, to: string): Promise<void> {
  const done = await new Deno.Command("cp", { args: ["--recursive", from, to] }).output();
  assert.ok(done.success);
}

/** Writes to the log of changes only, until that fails, and answers with what it failed. */
async function exhaustLog({ sql }: Database): Promise<unknown> {
  for (let round = 0; round < 200; round++) {
    try {
      await sql`select pg_logical_emit_message(true, 'test', repeat('x', 300000))`;
    } catch (error) {
      return error;
    }
  }
  throw new Error("the log never ran out of room");
}

Deno.test(
  "on a full disk it fails at once, and continues when there is space",
  EMBEDDED,
  async () => {
    await using disk = await smallDisk(120);
    if (disk === null) return;
    await using fresh = await freshDatabase();
    await copy(join(fresh.dataDir, "postgres"), join(disk.path, "postgres"));
    const said: string[] = [];
    const database = await openDatabase({
      dataDir: disk.path,
      log: recordLog((_, message) => said.push(message)),
    });
    const { sql } = database;
    await sql`insert into account (id, name) values ('acct_kept', 'kept')`;

    await disk.fill();
    const failure = await exhaustLog(database);
    assert.ok(isStorageDown(failure), String(failure));
    await assert.rejects(database.ping(), (error) => isStorageDown(error));
    // Time for attempts to start again, which must fail.
    await sleep(2_000);
    await assert.rejects(async () => await sql`select 1`, (error) => isStorageDown(error));

    await disk.free();
    const giveUpAt = performance.now() + 60_000;
    while (await sql`select 1`.then(() => false, () => true)) {
      assert.ok(performance.now() < giveUpAt, `did not recover: ${said}`);
      await sleep(100);
    }
    assert.deepEqual([...await sql`select name from account where id = 'acct_kept'`], [
      { name: "kept" },
    ]);
    await sql`insert into account (id, name) values ('acct_later', 'later')`;
    assert.equal(said[0], "embedded database failed, restarting");
    assert.equal(said.at(-1), "embedded database restarted");
    await database[Symbol.asyncDispose]();
  },
);

Deno.test("on a full disk it can still be closed", EMBEDDED, async () => {
  await using disk = await smallDisk(120);
  if (disk === null) return;
  await using fresh = await freshDatabase();
  await copy(join(fresh.dataDir, "postgres"), join(disk.path, "postgres"));
  const database = await openDatabase({ dataDir: disk.path, log: noLog });
  await disk.fill();
  await exhaustLog(database);
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(() => late.resolve("late"), 20_000);
  const closed = database[Symbol.asyncDispose]().then(() => "closed");
  assert.equal(await Promise.race([closed, late.promise]), "closed");
  clearTimeout(timer);
});

Deno.test(
  "a statement that never ends fails, and its process is told to restart",
  EMBEDDED,
  async () => {
    await using fresh = await freshDatabase();
    // In a process of its own: the thread in its endless loop goes only with that.
    const code = `
    import { openDatabase } from ${JSON.stringify(import.meta.resolve("./postgres.ts"))};
    import { noLog } from ${JSON.stringify(import.meta.resolve("../../../test/helpers/logs.ts"))};
    const { sql } = await openDatabase({
      dataDir: ${JSON.stringify(fresh.dataDir)},
      log: noLog,
      engine: { statementMs: 2_000, restartMs: 50 },
      onStuck: () => Deno.exit(134),
    });
    const endless = sql\`
      with recursive numbers as (select 1 as n union all select 1 from numbers)
      select count(*) from numbers\`;
    await endless.catch((error) => console.log(error.code));`;
    const { code: exit, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", "--ext=ts", code],
      cwd: join(import.meta.dirname!, "../../.."),
      stderr: "inherit",
    }).output();
    assert.equal(new TextDecoder().decode(stdout).trim(), "CONNECTION_CLOSED");
    assert.equal(exit, 134);
    await using database = await fresh.open();
    await database.ping();
  },
);
