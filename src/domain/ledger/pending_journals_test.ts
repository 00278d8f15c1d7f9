import assert from "node:assert/strict";
import { join } from "node:path";
import { away, item, messages, withRun } from "../../../test/helpers/pending_run.ts";

/** A folder, or a file where the folder should be. */
async function inFolder(work: (folder: string) => Promise<void>, isFile = false): Promise<void> {
  const parent = await Deno.makeTempDir();
  try {
    const folder = join(parent, "settlements");
    await (isFile ? Deno.writeTextFile(folder, "") : Deno.mkdir(folder));
    await work(folder);
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
}

Deno.test("journals that cannot be read, and a disk that cannot be written, are reported once", () =>
  inFolder((folder) =>
    withRun(async (run) => {
      run.pending.replay();
      assert.deepEqual(messages(run), ["settlement journals cannot be read"]);
      run.pending.add(item("a"));
      for (let n = 0; n < 20; n++) await run.time.advance(1_000);
      const kept = "settlements kept in memory only, the disk cannot be written";
      assert.equal(messages(run).filter((message) => message === kept).length, 1);
      run.failure = () => null;
      await run.time.advance(2_000);
      run.failure = away;
      run.pending.add(item("b"));
      for (let n = 0; n < 20; n++) await run.time.advance(1_000);
      assert.equal(messages(run).filter((message) => message === kept).length, 2, "an outage each");
      await run.pending[Symbol.asyncDispose]();
      assert.ok(messages(run).at(-1)!.startsWith("settlements lost at shutdown"));
    }, { folder }), true));

Deno.test("a journal found empty is removed, and one found whole is told as a fact", () =>
  inFolder((folder) =>
    withRun(async (run) => {
      await Deno.writeTextFile(join(folder, "settlements-1.jsonl"), "");
      await Deno.writeTextFile(
        join(folder, "settlements-2.jsonl"),
        `${JSON.stringify(item("a"))}\n${JSON.stringify(item("b"))}\n`,
      );
      const names = () => [...Deno.readDirSync(folder)].map(({ name }) => name);
      run.pending.replay();
      assert.deepEqual(run.logged, Array(2).fill(["info", "settlement journal found"]));
      assert.deepEqual(names(), ["settlements-2.jsonl"]);
      assert.equal(run.pending.size, 2);
      run.failure = (id) => id === "b" ? new Error("there is no such hold") : null;
      await run.time.advance(100);
      assert.deepEqual(names(), ["settlements-2.jsonl.failed"], "one of its settlements failed");
    }, { folder })
  ));

Deno.test("a damaged journal is an error", () =>
  inFolder((folder) =>
    withRun((run) => {
      Deno.writeTextFileSync(join(folder, "settlements-1.jsonl"), "{");
      run.pending.replay();
      assert.deepEqual(run.logged, [["error", "settlement journal found"]]);
      return Promise.resolve();
    }, { folder })
  ));

Deno.test("what is on the disk already is not written again, at an attempt or at the end", () =>
  inFolder((folder) =>
    withRun(async (run) => {
      const file = "settlements-1.jsonl";
      await Deno.writeTextFile(join(folder, file), `${JSON.stringify(item("a"))}\n`);
      const names = () => [...Deno.readDirSync(folder)].map(({ name }) => name);
      run.pending.replay();
      for (let n = 0; n < 10; n++) await run.time.advance(500);
      assert.deepEqual(names(), [file]);
      await run.pending[Symbol.asyncDispose]();
      assert.deepEqual(names(), [file]);
    }, { folder })
  ));
