import assert from "node:assert/strict";
import { fakeTime } from "../../../test/helpers/fake_time.ts";
import { away, item, locked, messages, SIZE, withRun } from "../../../test/helpers/pending_run.ts";
import { recordLog } from "../../../test/helpers/logs.ts";
import { type Item } from "./item.ts";
import { PendingSettlements } from "./pending_settlements.ts";

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
