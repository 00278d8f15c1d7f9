import assert from "node:assert/strict";
import { join } from "node:path";
import type { Item } from "./item.ts";
import {
  readJournals,
  retireJournal,
  writeJournal,
  writeJournalSync,
} from "./settlement_journal.ts";

const item = (id: string, more: Partial<Item> = {}): Item => ({
  op: "settle",
  id,
  num: "1",
  den: "2",
  units: "0",
  ...more,
});

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const parent = await Deno.makeTempDir();
  try {
    await work(join(parent, "new", "settlements"));
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
}

const names = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

Deno.test("what is written is read again, also by another thread", () =>
  inFolder(async (folder) => {
    assert.deepEqual(readJournals(folder), [], "there is no folder yet");
    const items = [item("a", { usage: { images: 1 }, account_id: "acc_1" }), item("b")];
    const written = await writeJournal(folder, items);
    assert.deepEqual([written.left, written.failed, written.damaged], [2, 0, 0]);
    assert.equal((await Deno.stat(written.path)).mode! & 0o777, 0o600);
    assert.deepEqual(readJournals(folder), [written]);
    const path = writeJournalSync(folder, [item("c")]);
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
    const found = readJournals(folder).flatMap(({ items }) => items.map(({ id }) => id));
    assert.deepEqual(found.sort(), ["a", "b", "c"]);
  }));

Deno.test("a file is removed when its settlements are done, and kept aside when one failed", () =>
  inFolder(async (folder) => {
    const done = await writeJournal(folder, [item("a")]);
    retireJournal(done);
    retireJournal(done); // another thread was quicker
    assert.deepEqual(names(folder), []);
    const failed = await writeJournal(folder, [item("b")]);
    retireJournal({ ...failed, failed: 1 });
    assert.equal(names(folder).length, 1);
    assert.match(names(folder)[0]!, /^settlements-.*\.jsonl\.failed$/);
    assert.deepEqual(readJournals(folder), [], "nor is it read again");
  }));

Deno.test("lines that are not settlements count as damaged", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(folder, { recursive: true });
    const lines = [
      item("good"),
      item("bad", { op: "hold" }),
      item("bad", { num: "-1" }),
      item("bad", { den: "" }),
      { op: "settle", id: "bad" },
    ];
    const text = `${lines.map((line) => JSON.stringify(line)).join("\n")}\n\n{"op":`;
    await Deno.writeTextFile(join(folder, "settlements-1.jsonl"), text);
    await Deno.writeTextFile(join(folder, "notes.jsonl"), "not ours");
    const [journal, ...others] = readJournals(folder);
    assert.deepEqual(others, []);
    assert.deepEqual(journal!.items.map(({ id }) => id), ["good"]);
    assert.deepEqual([journal!.damaged, journal!.left, journal!.failed], [5, 1, 0]);
  }));

Deno.test("a folder that cannot be read is an error", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(join(folder, ".."), { recursive: true });
    await Deno.writeTextFile(folder, "a file");
    assert.throws(() => readJournals(folder), Deno.errors.NotADirectory);
    assert.throws(
      () => retireJournal({ path: join(folder, "x"), items: [], damaged: 0, left: 0, failed: 0 }),
      Deno.errors.NotADirectory,
    );
  }));
