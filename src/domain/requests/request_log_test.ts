import assert from "node:assert/strict";
import { readRows } from "../../../test/helpers/read_rows.ts";
import { openLogToArray } from "../../../test/helpers/request_log.ts";
import { sleep } from "../../lib/timers.ts";

Deno.test("rows that end together are written together, with the time of their ids", async () => {
  await using log = openLogToArray();
  const before = Date.now();
  const ids = [log.add(), log.add(), log.add()];
  assert.equal(log.batches.length, 0);
  await sleep(60);
  assert.deepEqual(log.written(), ids);
  assert.deepEqual(log.sizes(), [3]);
  assert.ok(log.batches[0]!.every(({ at }) => at >= before && at <= Date.now()));
});

Deno.test("a full batch is written at once, behind the one under way; the rest waits for others", async () => {
  await using log = openLogToArray({ batchMax: 2, gatherMs: 60_000 });
  const gate = Promise.withResolvers<void>();
  log.state.gate = gate.promise;
  for (let n = 0; n < 4; n++) log.add();
  await sleep(0);
  assert.equal(log.statements(), 1);
  gate.resolve();
  await sleep(0);
  assert.deepEqual(log.sizes(), [2, 2]);
  log.add();
  await sleep(0);
  assert.deepEqual(log.sizes(), [2, 2]);
});

Deno.test("rows that end during a write are gathered for the next one", async () => {
  await using log = openLogToArray();
  const gate = Promise.withResolvers<void>();
  log.state.gate = gate.promise;
  log.add();
  const writing = log.log.flush();
  log.add();
  await sleep(40);
  assert.equal(log.statements(), 1, "one at a time");
  log.add();
  gate.resolve();
  await writing;
  await sleep(40);
  assert.deepEqual(log.sizes(), [1, 2]);
});

Deno.test("callers that flush during a write share the next one", async () => {
  await using log = openLogToArray({ gatherMs: 60_000 });
  const gate = Promise.withResolvers<void>();
  log.state.gate = gate.promise;
  log.add();
  const writing = log.log.flush();
  log.add();
  const shared = [log.log.flush(), log.log.flush()];
  gate.resolve();
  await Promise.all([writing, ...shared]);
  assert.deepEqual(log.sizes(), [1, 1]);
  assert.equal(log.statements(), 2);
  log.add();
  await log.log.flush();
  assert.equal(log.statements(), 3);
});

Deno.test("flush resolves when rows that ended before it are written, also behind a running write", async () => {
  await using log = openLogToArray({ gatherMs: 60_000 });
  const gate = Promise.withResolvers<void>();
  log.state.gate = gate.promise;
  const first = log.add();
  const running = log.log.flush();
  const second = log.add();
  const flushed = log.log.flush();
  gate.resolve();
  await running;
  assert.deepEqual(log.written(), [first]);
  await flushed;
  assert.deepEqual(log.written(), [first, second]);
});

Deno.test("rows beyond the limit are lost and counted, and reported once", async () => {
  await using log = openLogToArray({ rowsMax: 3, gatherMs: 60_000 });
  const kept = [log.add(), log.add(), log.add()];
  log.add();
  log.add();
  assert.deepEqual(log.losses, [
    { rows: 1, reason: "full", isFirst: true, error: undefined },
    { rows: 1, reason: "full", isFirst: false, error: undefined },
  ]);
  await log.log.flush();
  assert.deepEqual(log.written(), kept);
  log.add();
  await log.log.flush();
  for (let n = 0; n < 4; n++) log.add();
  assert.equal(log.losses.at(-1)!.isFirst, true, "a new report after it had worked");
});

Deno.test("rows beyond the limit of bytes are lost too: metadata counts", async () => {
  await using log = openLogToArray({ bytesMax: 20_000, gatherMs: 60_000 });
  const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`name${n}`, "value"]));
  log.add({ metadata });
  log.add({ metadata });
  assert.deepEqual(log.losses.map(({ reason }) => reason), ["full"]);
  log.add();
  assert.equal(log.losses.length, 1, "a small one still fits");
  await log.log.flush();
  log.add({ metadata });
  assert.equal(log.losses.length, 1, "what is written takes no room");
});

const idsOf = (rows: string) => readRows(rows).map(([id]) => id);

Deno.test("another statement takes rows along, as many as it wants; the timer writes none of them", async () => {
  await using log = openLogToArray();
  const ids = [log.add(), log.add(), log.add()];
  const two = log.log.takeAlong(2)!;
  assert.deepEqual(idsOf(two.rows), ids.slice(0, 2));
  const rest = log.log.takeAlong(2)!;
  assert.deepEqual(idsOf(rest.rows), ids.slice(2));
  assert.equal(log.log.takeAlong(2), null);
  two.end(true);
  rest.end(true);
  await sleep(60);
  assert.equal(log.statements(), 0);
  const late = log.add();
  await sleep(60);
  assert.deepEqual(log.written(), [late], "what no statement took along is written");
});

Deno.test("rows of another statement that failed are written by the log itself, as repeated", async () => {
  await using log = openLogToArray({ gatherMs: 60_000 });
  const ids = [log.add(), log.add()];
  log.log.takeAlong(16)!.end(false);
  ids.push(log.add());
  assert.equal(log.log.takeAlong(16), null, "they may be why it failed");
  await log.log.flush();
  assert.deepEqual([log.written(), log.repeated], [ids, [true]]);
  log.add();
  assert.notEqual(log.log.takeAlong(16), null);
  assert.deepEqual(log.losses, []);
});

Deno.test("flush waits for rows that another statement has taken along, and writes them if it failed", async () => {
  await using log = openLogToArray({ gatherMs: 60_000 });
  log.add();
  const taken = log.log.takeAlong(16)!;
  let isFlushed = false;
  const flushed = log.log.flush().then(() => isFlushed = true);
  await sleep(5);
  assert.equal(isFlushed, false);
  taken.end(false);
  await flushed;
  assert.equal(log.written().length, 1);
});
