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

/** Files are written a few bytes at a time; `look` is called before each write, and before each wait for the disk. */
function whileWriting(look: () => void): Disposable {
  const file = Deno.FsFile.prototype;
  const { write, writeSync, sync, syncSync } = file;
  file.write = function (bytes) {
    look();
    return write.call(this, bytes.subarray(0, 40));
  };
  file.writeSync = function (bytes) {
    look();
    return writeSync.call(this, bytes.subarray(0, 40));
  };
  file.sync = function () {
    look();
    return sync.call(this);
  };
  file.syncSync = function () {
    look();
    return syncSync.call(this);
  };
  return { [Symbol.dispose]: () => void Object.assign(file, { write, writeSync, sync, syncSync }) };
}

Deno.test("a file is found with all that it has or not at all, at any moment of its writing", () =>
  inFolder(async (folder) => {
    const found: number[] = [];
    const items = ["a", "b", "c"].map((id) => item(id));
    {
      using _ = whileWriting(() => {
        for (const journal of readJournals(folder)) {
          found.push(journal.items.length);
          // As a process does that starts at this moment and has settled what it found.
          retireJournal(journal);
        }
      });
      await writeJournal(folder, items);
      writeJournalSync(folder, items);
    }
    assert.ok(found.every((length) => length === items.length), `found ${found}`);
    const left = readJournals(folder).map(({ items, damaged }) => [items.length, damaged]);
    const seen = [...found.map((length) => [length, 0]), ...left];
    assert.deepEqual(seen, [[3, 0], [3, 0]]);
  }));

Deno.test("what a full disk has taken is found at the next start", () =>
  inFolder(async (folder) => {
    for (const isSync of [false, true]) {
      let writes = 0;
      const items = [item("a"), item("b")];
      const full = new Error("No space left on device");
      {
        using _ = whileWriting(() => {
          if (++writes > 2) throw full;
        });
        await assert.rejects(
          // deno-lint-ignore require-await
          async () => isSync ? writeJournalSync(folder, items) : writeJournal(folder, items),
          full,
        );
      }
      const [journal, ...others] = readJournals(folder);
      assert.deepEqual(others, []);
      assert.deepEqual([journal!.items.map(({ id }) => id), journal!.damaged], [["a"], 1]);
      await Deno.remove(journal!.path);
    }
  }));

Deno.test("what a killed writer left is taken over some time later, and that of a living one is not", () =>
  inFolder(async (folder) => {
    const { path } = await writeJournal(folder, [item("a"), item("b")]);
    await Deno.truncate(path, (await Deno.stat(path)).size - 10);
    await Deno.rename(path, `${path}.part`);
    const age = async (minutes: number) => {
      const moment = new Date(Date.now() - minutes * 60_000);
      await Deno.utime(`${path}.part`, moment, moment);
    };
    for (const minutes of [0, 9]) {
      await age(minutes);
      assert.deepEqual(readJournals(folder), []);
      assert.equal(names(folder).length, 1);
    }
    await age(11);
    const [journal] = readJournals(folder);
    assert.deepEqual([journal!.path, journal!.left, journal!.damaged], [path, 1, 1]);
    assert.deepEqual(journal!.items.map(({ id }) => id), ["a"]);
  }));

Deno.test("a file that another thread retires meanwhile does not keep the others from being read", () =>
  inFolder(async (folder) => {
    await writeJournal(folder, [item("a")]);
    // Listed, and gone when it is opened.
    await Deno.symlink(join(folder, "gone"), join(folder, "settlements-1.jsonl"));
    await Deno.symlink(join(folder, "gone"), join(folder, "settlements-1.jsonl.part"));
    assert.deepEqual(readJournals(folder).map(({ left }) => left), [1]);
  }));

Deno.test("lines that are not settlements count as damaged", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(folder, { recursive: true });
    const lines = [
      item("good"),
      item("given up", { op: "void" }),
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
    assert.deepEqual(journal!.items.map(({ id }) => id), ["good", "given up"]);
    assert.deepEqual([journal!.damaged, journal!.left, journal!.failed], [5, 2, 0]);
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
