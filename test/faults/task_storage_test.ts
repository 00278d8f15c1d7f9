import assert from "node:assert/strict";
import { join } from "node:path";
import { DURABLE, startPostgres } from "../../scripts/postgres.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { openDatabase } from "../../src/platform/database/postgres.ts";
import { until } from "../helpers/chat_gateway.ts";
import { filesIn } from "../helpers/file_gateway.ts";
import { freshDatabase } from "../helpers/fresh_database.ts";
import { openKillable } from "../helpers/killable_gateway.ts";
import { openMediaGateway } from "../helpers/media_gateway.ts";
import { noLog } from "../helpers/logs.ts";

const STRICT = { sanitizeOps: true, sanitizeResources: true };
const IMAGES = "/v1/images/generations";

Deno.test(
  "the queue's file is deleted while tasks run: they end all the same, and so do new ones",
  STRICT,
  async () => {
    await using store = await freshDatabase();
    await using gateway = await openKillable(store);
    await gateway.start();
    const { key } = await gateway.account();
    const tasks = [];
    for (let n = 0; n < 10; n++) tasks.push(await gateway.submit(key, { prompt: "hold-poll" }));
    await until("all are looked at", () => gateway.studio.waiting("poll") === 10, 30);
    const isQueueFile = (name: string) => /^(queue|kv)\.sqlite/.test(name);
    const files = [...Deno.readDirSync(store.dataDir)].filter(({ name }) => isQueueFile(name));
    assert.ok(files.length > 0, "there is a file to delete");
    for (const { name } of files) await Deno.remove(join(store.dataDir, name));
    gateway.studio.letGo("poll");
    for (let n = 0; n < 10; n++) tasks.push(await gateway.submit(key, {}));
    for (const { id } of tasks) {
      assert.equal((await gateway.ended(key, id)).status, "succeeded");
      assert.equal(gateway.studio.submissions.get(id), 1);
    }
    // Without its file from the start it makes a new one.
    await gateway.kill();
    await gateway.start();
    const { id } = await gateway.submit(key, {});
    assert.equal((await gateway.ended(key, id)).status, "succeeded");
    await gateway.verify();
  },
);

Deno.test("Postgres goes away and comes back while tasks run: each ends once", STRICT, async () => {
  await using postgres = {
    ...await startPostgres({ settings: DURABLE }),
    async [Symbol.asyncDispose]() {
      await this.stop();
    },
  };
  const dataDir = await Deno.makeTempDir();
  {
    await using database = await openDatabase({ databaseUrl: postgres.url, dataDir, log: noLog });
    await migrate(database.sql);
  }
  await using store = {
    databaseUrl: postgres.url,
    dataDir,
    open: () => openDatabase({ databaseUrl: postgres.url, dataDir, log: noLog }),
    [Symbol.asyncDispose]: () => Deno.remove(dataDir, { recursive: true }),
  };
  await using gateway = await openMediaGateway({ store, cash: "10.00" });
  const ids: string[] = [];
  for (const seconds of [0, 0.5, 1, 2, 3, 4]) {
    const prompt = `[[simulate: seconds=${seconds}]] x`;
    ids.push((await gateway.submit(IMAGES, { model: "image-model", prompt, n: 2 })).id);
  }
  await postgres.kill();
  const refused = await gateway.post(IMAGES, { model: "image-model", prompt: "x" });
  assert.equal(refused.status, 503);
  await refused.body?.cancel();
  await postgres.restart();
  await until("it is ready", async () => {
    const res = await gateway.fetch("/readyz");
    await res.body?.cancel();
    return res.status === 200;
  }, 60);
  for (const id of ids) {
    // A submission that was cut is looked for until the upstream could no longer accept it.
    const done = await gateway.ended(id, 180);
    assert.equal(done.status, "succeeded", JSON.stringify(done));
    assert.equal(done.output.length, 2);
    assert.equal(done.charge.settled, "0.08");
  }
  await gateway.verify();
});

/** A disk of its own that can be full; needs to be root. */
async function mountSmallDisk(folder: string): Promise<AsyncDisposable | null> {
  await Deno.mkdir(folder, { recursive: true });
  const run = async (command: string, ...args: string[]) => {
    const { success } = await new Deno.Command(command, { args, stderr: "null", stdout: "null" })
      .output().catch(() => ({ success: false }));
    return success;
  };
  if (!await run("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder)) return null;
  return {
    async [Symbol.asyncDispose]() {
      await run("umount", folder);
    },
  };
}

Deno.test(
  "the disk is full while a result is stored: the task waits for room, and is paid for once",
  STRICT,
  async () => {
    await using store = await freshDatabase();
    const folder = join(store.dataDir, "files");
    await using disk = await mountSmallDisk(folder);
    if (disk === null) {
      console.log("skipped: only root can make a small disk to fill");
      return;
    }
    await using gateway = await openMediaGateway({ store, cash: "1.00" });
    const filler = join(folder, "filler");
    await Deno.writeFile(filler, new Uint8Array(256 * 1024)).catch(() => undefined);
    const task = await gateway.submit(IMAGES, { model: "image-model", prompt: "x", n: 2 });
    const { sql } = gateway.gateway.database;
    await until("storing fails a few times", async () => {
      const [row] = await sql`select from task where id = ${task.id} and failures >= 2`;
      return row !== undefined;
    }, 30);
    assert.equal((await gateway.task(task.id)).status, "running");
    assert.deepEqual(await gateway.balance(), { available: "0.92", frozen: "0.08" });
    const leftovers = (await filesIn(folder)).filter((name) => !name.endsWith("/filler"));
    assert.deepEqual(leftovers, [], "nothing is left of what did not fit");
    await Deno.remove(filler);
    const done = await gateway.ended(task.id, 60);
    assert.equal(done.status, "succeeded", JSON.stringify(done));
    assert.equal(done.output.length, 2);
    assert.deepEqual(await gateway.balance(), { available: "0.92", frozen: "0.00" });
    await gateway.verify();
  },
);
