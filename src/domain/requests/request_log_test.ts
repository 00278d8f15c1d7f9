import assert from "node:assert/strict";
import { newId } from "../../lib/ids.ts";
import { sleep } from "../../lib/timers.ts";
import { ConnectionError } from "../../platform/database/storage_error.ts";
import { OpenRequest } from "./open_request.ts";
import { RequestLog, type RequestLogLimits, type RequestLogOptions } from "./request_log.ts";

type Loss = Parameters<RequestLogOptions["onDrop"]>[0];

/** A log that writes to an array. */
function openLog(limits: Partial<RequestLogLimits> = {}) {
  const batches: { id: string; at: number }[][] = [];
  const repeated: boolean[] = [];
  let statements = 0;
  const losses: Loss[] = [];
  /** Statements fail with `error`, and wait for `gate`. */
  const state: { error: Error | null; gate: Promise<void> | null } = { error: null, gate: null };
  const log = new RequestLog({
    async write({ rows, isRepeated }) {
      statements++;
      await state.gate;
      if (state.error !== null) throw state.error;
      batches.push(JSON.parse(rows));
      repeated.push(isRepeated);
    },
    onDrop: (loss) => losses.push(loss),
    limits: { gatherMs: 20, closeMs: 100, ...limits },
  });
  return {
    log,
    batches,
    repeated,
    losses,
    state,
    /** A request that has ended; its id. */
    add(more: Partial<OpenRequest> = {}): string {
      const id = newId("req");
      const start = { requestId: id, startedAt: 0, method: "GET", clientRequestId: null };
      const request = new OpenRequest(log, start, { account: "acc_1", key: "key_1" }, "usage");
      Object.assign(request, more).respond(200, null, 1);
      return id;
    },
    /** Statements so far, failed ones too. */
    statements: () => statements,
    written: () => batches.flat().map(({ id }) => id),
    sizes: () => batches.map(({ length }) => length),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

const AWAY = new ConnectionError("ECONNREFUSED", "away");

Deno.test("rows that end together are written together, with the time of their ids", async () => {
  await using log = openLog();
  const before = Date.now();
  const ids = [log.add(), log.add(), log.add()];
  assert.equal(log.batches.length, 0);
  await sleep(60);
  assert.deepEqual(log.written(), ids);
  assert.deepEqual(log.sizes(), [3]);
  assert.ok(log.batches[0]!.every(({ at }) => at >= before && at <= Date.now()));
});

Deno.test("a full batch is written at once, behind the one under way; the rest waits for others", async () => {
  await using log = openLog({ batchMax: 2, gatherMs: 60_000 });
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
  await using log = openLog();
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
  await using log = openLog({ gatherMs: 60_000 });
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
  await using log = openLog({ gatherMs: 60_000 });
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
  await using log = openLog({ rowsMax: 3, gatherMs: 60_000 });
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
  await using log = openLog({ bytesMax: 20_000, gatherMs: 60_000 });
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

Deno.test("rows wait for a database that is away, in their order", async () => {
  await using log = openLog({ batchMax: 2 });
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
  await using log = openLog({ batchMax: 2, gatherMs: 60_000 });
  log.state.error = AWAY;
  log.add();
  await log.log.flush();
  log.state.error = null;
  for (let n = 0; n < 3; n++) log.add();
  await log.log.flush();
  assert.deepEqual([log.sizes(), log.repeated], [[2, 2], [true, false]]);
});

Deno.test("while the database is away it is asked with the timer only, a batch at a time", async () => {
  await using log = openLog({ batchMax: 1, gatherMs: 60_000 });
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
  await using log = openLog({ awayMs: 60, gatherMs: 60_000 });
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
  await using log = openLog({ bytesMax: 2_500, awayMs: 40, gatherMs: 60_000 });
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
  await using log = openLog({ batchMax: 1, gatherMs: 60_000 });
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
  await using log = openLog({ rowsMax: 4, batchMax: 1, gatherMs: 60_000 });
  const gate = Promise.withResolvers<void>();
  log.state.gate = gate.promise;
  // The first is being written, four wait, and one is lost.
  for (let n = 0; n < 6; n++) log.add();
  assert.deepEqual(log.losses.map(({ isFirst }) => isFirst), [true]);
  const batch = log.log.take()!;
  batch.end(null);
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
  const log = openLog({ gatherMs: 60_000 });
  const id = log.add();
  await log[Symbol.asyncDispose]();
  assert.deepEqual(log.written(), [id]);
  assert.deepEqual(log.losses, []);
  const away = openLog({ gatherMs: 60_000 });
  away.state.error = AWAY;
  away.add();
  await away[Symbol.asyncDispose]();
  assert.deepEqual(away.losses.map(({ rows, reason }) => [rows, reason]), [[1, "away"]]);
});

Deno.test("closing does not wait for a database that hangs, and nothing is tried after it", async () => {
  const log = openLog({ closeMs: 20 });
  const gate = Promise.withResolvers<void>();
  log.state.gate = gate.promise;
  log.add();
  await log[Symbol.asyncDispose]();
  log.state.error = AWAY;
  gate.resolve();
  await sleep(60);
  assert.equal(log.statements(), 1);
});

Deno.test("another statement may carry the rows: written with it, or waiting again when it fails", async () => {
  await using log = openLog({ gatherMs: 60_000 });
  const ids = [log.add(), log.add()];
  const failed = log.log.take()!;
  assert.equal(log.log.take(), null);
  failed.end({ error: AWAY });
  const batch = log.log.take()!;
  assert.deepEqual(JSON.parse(batch.rows).map(({ id }: { id: string }) => id), ids);
  batch.end(null);
  assert.equal(log.log.take(), null);
  assert.deepEqual(log.losses, []);
});
