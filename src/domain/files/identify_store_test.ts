import assert from "node:assert/strict";
import { join } from "node:path";
import { freshDatabase } from "../../../test/helpers/fresh_database.ts";
import type { Config } from "../../platform/config/config.ts";
import { identifyStore } from "./identify_store.ts";

const LOCAL = { files: "local", s3: null } as Config["storage"];

Deno.test("nodes on one folder have one store, and a folder of its own is refused", async () => {
  await using fresh = await freshDatabase();
  await using database = await fresh.open();
  const { sql } = database;
  const [shared, separate] = [await Deno.makeTempDir(), await Deno.makeTempDir()];
  try {
    const both = await Promise.all([
      identifyStore(sql, shared, LOCAL),
      identifyStore(sql, shared, LOCAL),
    ]);
    assert.deepEqual(both[0], both[1]);
    assert.equal(both[0].problem, null);
    assert.match(both[0].name, /^local:[0-9a-f-]{36}$/);
    assert.deepEqual([...Deno.readDirSync(join(shared, "files"))].map(({ name }) => name), [
      "store-id",
    ]);

    const refused = await identifyStore(sql, separate, LOCAL);
    const id = both[0].name.slice("local:".length);
    assert.match(
      refused.problem!,
      new RegExp(`${separate}/files is not the folder.*write ${id} into`),
    );
    await Deno.mkdir(join(separate, "files"));
    await Deno.writeTextFile(join(separate, "files", "store-id"), crypto.randomUUID());
    assert.match((await identifyStore(sql, separate, LOCAL)).problem!, /is not the folder/);
    await Deno.writeTextFile(join(separate, "files", "store-id"), `${id}\n`);
    assert.deepEqual(await identifyStore(sql, separate, LOCAL), both[0]);
  } finally {
    for (const folder of [shared, separate]) await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("two folders that are used for the first time at once: one is the store, the other is refused", async () => {
  await using fresh = await freshDatabase();
  await using database = await fresh.open();
  const folders = [await Deno.makeTempDir(), await Deno.makeTempDir()];
  try {
    const found = await Promise.all(
      folders.map((folder) => identifyStore(database.sql, folder, LOCAL)),
    );
    assert.equal(found.filter(({ problem }) => problem === null).length, 1);
  } finally {
    for (const folder of folders) await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a bucket is named by its address", async () => {
  await using fresh = await freshDatabase();
  await using database = await fresh.open();
  const s3 = { endpoint: "https://s3.example", bucket: "files" } as Config["storage"]["s3"];
  assert.deepEqual(
    await identifyStore(database.sql, "/nowhere", { ...LOCAL, files: "s3", s3 }),
    { name: "s3:https://s3.example/files", problem: null },
  );
});
