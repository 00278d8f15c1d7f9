import assert from "node:assert/strict";
import { openLogToArray } from "../../../test/helpers/request_log.ts";
import { sleep } from "../../lib/timers.ts";
import { ConnectionError } from "../../platform/database/storage_error.ts";

const AWAY = new ConnectionError("ECONNREFUSED", "away");

Deno.test("rows wait for a database that is away, in their order", async () => {
  await using log = openLogToArray({ batchMax: 2 });
  log.state.error = AWAY;
  const ids = [log.add(), log.add(), log.add()];
  await sleep(60);
  assert.deepEqual(log.written(), []);
  log.state.error = null;
  ids.push(log.add());
  await sleep(80);
  assert.deepEqual(log.written(), ids);
  assert.deepEqual(log.losses, []);
});

Deno.test("rows of a failed statement are marked as repeated, later ones are not", async () => {
  await using log = openLogToArray({ batchMax: 2, gatherMs: 60_000 });
  log.state.error = AWAY;
  log.add();
  await log.log.flush();
  log.state.error = null;
  for (let n = 0; n < 3; n++) log.add();
  await log.log.flush();
  assert.deepEqual([log.sizes(), log.repeated], [[2, 2], [true, false]]);
});

Deno.test("while the database is away it is asked with the timer only, a batch at a time", async () => {
  await using log = openLogToArray({ batchMax: 1, gatherMs: 60_000 });
  log.state.error = AWAY;
  log.add();
  await log.log.flush();
  const before = log.statements();
  for (let n = 0; n < 5; n++) log.add();
  await sleep(0);
  assert.equal(log.statements(), before, "not by rows");
  await log.log.flush();
  assert.equal(log.statements(), before + 1, "not once per row");
  log.state.error = null;
  await log.log.flush();
  assert.equal(log.written().length, 6);
});

Deno.test("rows are lost when the database stays away, with one report for each outage", async () => {
  await using log = openLogToArray({ awayMs: 60, gatherMs: 60_000 });
  log.state.error = AWAY;
  log.add();
  await log.log.flush();
  log.add();
  assert.equal(log.losses.length, 0, "not at once");
  await sleep(80);
  await log.log.flush();
  assert.deepEqual(log.losses, [{ rows: 2, reason: "away", isFirst: true, error: AWAY }]);
  log.add();
  await log.log.flush();
  assert.deepEqual(log.losses[1], { rows: 1, reason: "away", isFirst: false, error: AWAY });
  log.state.error = null;
  const later = log.add();
  await log.log.flush();
  assert.deepEqual([log.written(), log.repeated], [[later], [false]]);
  log.state.error = AWAY;
  log.add();
  await log.log.flush();
  assert.equal(log.losses.length, 2, "a new outage has its own time");
  await sleep(80);
  await log.log.flush();
  assert.equal(log.losses[2]!.isFirst, true);
});

Deno.test("rows that wait again take their room again, and leave it when they are lost", async () => {
  await using log = openLogToArray({ bytesMax: 2_500, awayMs: 40, gatherMs: 60_000 });
  log.state.error = AWAY;
  log.add();
  log.add();
  await log.log.flush();
  log.add();
  assert.deepEqual(log.losses.map(({ reason }) => reason), ["full"]);
  await sleep(60);
  await log.log.flush();
  log.state.error = null;
  const ids = [log.add(), log.add()];
  await log.log.flush();
  assert.deepEqual(log.written(), ids);
});

Deno.test("rows that the database refuses are lost, and others are written", async () => {
  await using log = openLogToArray({ batchMax: 1, gatherMs: 60_000 });
  log.state.error = Object.assign(new Error("invalid"), { code: "22P05" });
  log.add();
  await log.log.flush();
  log.add();
  await log.log.flush();
  const refused = { rows: 1, reason: "refused", error: log.state.error };
  assert.deepEqual(log.losses, [{ ...refused, isFirst: true }, { ...refused, isFirst: false }]);
  log.state.error = null;
  const later = log.add();
  await log.log.flush();
  assert.deepEqual(log.written(), [later]);
  log.state.error = refused.error;
  const gate = Promise.withResolvers<void>();
  log.state.gate = gate.promise;
  // Two batches wait for the one under way: one that is refused does not end the write.
  for (let n = 0; n < 3; n++) log.add();
  gate.resolve();
  await log.log.flush();
  assert.deepEqual(log.losses.slice(2).map(({ isFirst }) => isFirst), [true, false, false]);
});

Deno.test("while more rows end than can be written, their loss is reported once", async () => {
  await using log = openLogToArray({ rowsMax: 4, batchMax: 1, gatherMs: 60_000 });
  const gate = Promise.withResolvers<void>();
  log.state.gate = gate.promise;
  // The first is being written, four wait, and one is lost.
  for (let n = 0; n < 6; n++) log.add();
  assert.deepEqual(log.losses.map(({ isFirst }) => isFirst), [true]);
  log.log.takeAlong(1)!.end(true);
  log.add();
  log.add();
  assert.deepEqual(log.losses.map(({ isFirst }) => isFirst), [true, false], "three still waited");
  gate.resolve();
  await log.log.flush();
  log.state.gate = new Promise(() => {});
  for (let n = 0; n < 6; n++) log.add();
  assert.equal(log.losses.at(-1)!.isFirst, true);
});

Deno.test("closing writes what waits, and gives up on a database that is away", async () => {
  const log = openLogToArray({ gatherMs: 60_000 });
  const id = log.add();
  await log[Symbol.asyncDispose]();
  assert.deepEqual(log.written(), [id]);
  assert.deepEqual(log.losses, []);
  const away = openLogToArray({ gatherMs: 60_000 });
  away.state.error = AWAY;
  away.add();
  await away[Symbol.asyncDispose]();
  assert.deepEqual(away.losses.map(({ rows, reason }) => [rows, reason]), [[1, "away"]]);
});

Deno.test("closing does not wait for a database that hangs, and nothing is tried after it", async () => {
  const log = openLogToArray({ closeMs: 20 });
  const gate = Promise.withResolvers<void>();
  log.state.gate = gate.promise;
  log.add();
  await log[Symbol.asyncDispose]();
  log.state.error = AWAY;
  gate.resolve();
  await sleep(60);
  assert.equal(log.statements(), 1);
});
