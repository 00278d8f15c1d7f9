import assert from "node:assert/strict";
import { join } from "node:path";
import { type FakeTime, fakeTime } from "../../../test/helpers/fake_time.ts";
import { recordLog } from "../../../test/helpers/logs.ts";
import { ConnectionError } from "../../platform/database/storage_error.ts";
import type { Item } from "./item.ts";
import { type PendingOptions, PendingSettlements } from "./pending_settlements.ts";

const item = (id: string): Item => ({ op: "settle", id, num: "1", den: "2", units: "0" });
const SIZE = JSON.stringify(item("a")).length;
const away = () => new ConnectionError("CONNECTION_CLOSED", "away");
const locked = () => Object.assign(new Error("locked"), { code: "55P03" });

interface Run {
  time: FakeTime;
  pending: PendingSettlements;
  /** What was tried, with the time since the start. */
  tries: [id: string, at: number][];
  dropped: string[];
  logged: [level: string, message: string][];
  /** What each report of success counted. */
  completed: unknown[];
  failure: (id: string) => Error | null;
}

/** Settlements that wait in memory, in time that the test advances. */
async function withRun(work: (run: Run) => Promise<void>, options: PendingOptions = {}) {
  using time = fakeTime();
  const start = performance.now();
  const run: Run = {
    time,
    tries: [],
    dropped: [],
    logged: [],
    completed: [],
    failure: away,
    pending: new PendingSettlements({
      settle({ id }) {
        run.tries.push([id, performance.now() - start]);
        const failure = run.failure(id);
        return failure === null ? Promise.resolve() : Promise.reject(failure);
      },
      drop: (id) => run.dropped.push(id),
      log: recordLog((level, message, fields) => {
        run.logged.push([level, message]);
        if (message.startsWith("settlements completed")) run.completed.push(fields!.settlements);
      }),
      ...options,
    }),
  };
  await work(run);
  run.failure = () => null;
  const closing = run.pending[Symbol.asyncDispose]();
  await time.advance(5_000);
  await closing;
}

const messages = ({ logged }: Run) => logged.map(([, message]) => message);

Deno.test("one settlement is tried after growing pauses, up to two seconds, until the database is back", () =>
  withRun(async (run) => {
    run.pending.add(item("a"));
    await run.time.advance(99);
    assert.equal(run.tries.length, 0);
    await run.time.advance(9_901);
    assert.deepEqual(run.tries.map(([, at]) => at), [
      100,
      300,
      700,
      1_500,
      3_100,
      5_100,
      7_100,
      9_100,
    ]);
    assert.deepEqual(messages(run), ["settlements wait for the database"]);
    run.failure = () => null;
    await run.time.advance(2_000);
    assert.equal(run.pending.size, 0);
    assert.deepEqual(run.logged.at(-1), [
      "info",
      "settlements completed after the database was away",
    ]);
    const tried = run.tries.length;
    assert.equal(run.time.timers, 0);
    await run.time.advance(10_000);
    assert.equal(run.tries.length, tried, "nothing is left to try");

    run.failure = away;
    run.pending.add(item("b"));
    await run.time.advance(100);
    assert.equal(run.tries.length, tried + 1, "the pauses begin anew");
    run.failure = () => null;
    run.pending.add(item("c"));
    await run.time.advance(1_000);
    assert.deepEqual(run.completed, [1, 2], "each outage is counted by itself");
  }));

Deno.test("each attempt is another settlement's, and when one succeeds all are tried", () =>
  withRun(async (run) => {
    for (const id of ["a", "b", "c"]) run.pending.add(item(id));
    await run.time.advance(700);
    assert.deepEqual(run.tries.map(([id]) => id), ["a", "b", "c"]);
    run.failure = (id) => id === "b" ? locked() : null;
    run.tries.length = 0;
    await run.time.advance(800);
    assert.deepEqual(run.tries.map(([id]) => id), ["a", "b", "c"]);
    assert.equal(run.pending.size, 1);
    assert.equal(messages(run).length, 1, "it is not complete yet");
    await run.time.advance(100);
    assert.deepEqual(run.tries.at(-1)![0], "b", "a lock is tried again soon");
    run.failure = () => null;
    await run.time.advance(100);
    assert.equal(messages(run).length, 2);
  }));

Deno.test("a settlement that fails finally is dropped, and no success is told", () =>
  withRun(async (run) => {
    run.failure = () => new Error("there is no such hold");
    run.pending.add(item("a"));
    await run.time.advance(100);
    assert.deepEqual([run.dropped, run.pending.size], [["a"], 0]);
    assert.deepEqual(messages(run), [
      "settlements wait for the database",
      "settlement failed, the last checkpoint counts",
    ]);
  }));

Deno.test("a settlement that takes its time is not tried twice, nor forgotten when it comes again", async () => {
  using time = fakeTime();
  const tries: string[] = [];
  await using pending = new PendingSettlements({
    settle({ id }) {
      tries.push(id);
      return new Promise<void>((resolve) => setTimeout(resolve, 500));
    },
    drop: () => {},
  });
  pending.add(item("a"));
  pending.add(item("b"));
  await time.advance(700);
  assert.deepEqual(tries, ["a", "b"]);
  pending.add(item("b"));
  await time.advance(450);
  assert.equal(pending.size, 1, "the second of this id waits");
  await time.advance(1_000);
  assert.deepEqual(tries, ["a", "b", "b"]);
  assert.equal(pending.size, 0);
});

Deno.test("without a folder there is nothing to replay, and nothing to report", () =>
  withRun((run) => {
    run.pending.replay();
    assert.equal(run.logged.length, 0);
    return Promise.resolve();
  }));

Deno.test("a settlement that comes again takes the place of the first", () =>
  withRun(async (run) => {
    run.pending.add(item("a"));
    run.pending.add(item("a"));
    assert.equal(run.pending.size, 1);
    run.failure = () => null;
    await run.time.advance(100);
    assert.deepEqual(run.tries.length, 1);
    assert.equal(run.pending.size, 0);
  }));

Deno.test("what was settled makes room again", () =>
  withRun(async (run) => {
    assert.ok(run.pending.add(item("a")));
    assert.ok(run.pending.add(item("b")), "exactly as much as fits");
    assert.equal(run.pending.add(item("c")), false);
    run.failure = () => null;
    await run.time.advance(100);
    assert.ok(run.pending.add(item("c")));
    assert.ok(run.pending.add(item("d")));
    assert.equal(run.pending.add(item("e")), false);
  }, { bytesMax: 2 * SIZE }));

Deno.test("by default 20,000 settlements fit, or 16 MiB of them", () =>
  withRun(async (run) => {
    for (let n = 0; n < 20_000; n++) assert.ok(run.pending.add(item(`id ${n}`)));
    assert.equal(run.pending.add(item("one more")), false);
    run.failure = () => null;
    await run.time.advance(100);
    assert.equal(run.pending.size, 0);
    const large = (id: string, bytes: number): Item => ({ ...item(id), model: "x".repeat(bytes) });
    const rest = 16 * 1024 * 1024 - JSON.stringify(large("a", 0)).length;
    assert.equal(run.pending.add(large("a", rest + 1)), false);
    assert.ok(run.pending.add(large("a", rest)));
  }));

Deno.test("the end of the process tries once more, and waits for that for a limited time", async () => {
  using time = fakeTime();
  const tries: string[] = [];
  const logged: string[] = [];
  const pending = new PendingSettlements({
    settle({ id }) {
      tries.push(id);
      return new Promise(() => {}); // a database that hangs
    },
    drop: () => {},
    log: recordLog((_, message) => logged.push(message)),
  });
  pending.add(item("a"));
  let isClosed = false;
  const closing = pending[Symbol.asyncDispose]().then(() => isClosed = true);
  await time.advance(1_999);
  assert.deepEqual([tries, isClosed], [["a"], false]);
  await time.advance(1);
  await closing;
  await pending[Symbol.asyncDispose]();
  assert.deepEqual(logged, [
    "settlements wait for the database",
    "settlements lost at shutdown, their last checkpoints count",
  ]);
  assert.equal(pending.add(item("b")), false, "without a folder there is nowhere to keep it");
});

Deno.test("a process that ends with everything settled says nothing more", () =>
  withRun(async (run) => {
    run.pending.add(item("a"));
    run.failure = () => null;
    await run.pending[Symbol.asyncDispose]();
    assert.deepEqual(run.tries.map(([id]) => id), ["a"]);
    assert.deepEqual(messages(run), [
      "settlements wait for the database",
      "settlements completed after the database was away",
    ]);
  }));

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
