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
  const losses: Loss[] = [];
  /** Statements fail with `error`, and wait for `gate`. */
  const state: { error: Error | null; gate: Promise<void> | null } = { error: null, gate: null };
  const log = new RequestLog({
    async write({ rows, isRepeated }) {
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

Deno.test("a full batch is written at once, and one at a time", async () => {
  await using log = openLog({ batchMax: 2, gatherMs: 60_000 });
  const gate = Promise.withResolvers<void>();
  log.state.gate = gate.promise;
  for (let n = 0; n < 5; n++) log.add();
  await sleep(0);
  assert.deepEqual(log.sizes(), []);
  gate.resolve();
  await log.log.flush();
  assert.deepEqual(log.sizes(), [2, 2, 1]);
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

Deno.test("rows are lost when the database stays away, with one report for the outage", async () => {
  await using log = openLog({ awayMs: 30 });
  log.state.error = AWAY;
  log.add();
  log.add();
  await sleep(120);
  assert.deepEqual(log.losses, [{ rows: 2, reason: "away", isFirst: true, error: AWAY }]);
  log.add();
  await sleep(60);
  assert.deepEqual(log.losses[1], { rows: 1, reason: "away", isFirst: false, error: AWAY });
  log.state.error = null;
  const later = log.add();
  await log.log.flush();
  assert.deepEqual(log.written(), [later]);
});

Deno.test("rows that the database refuses are lost, and later ones are written", async () => {
  await using log = openLog();
  log.state.error = Object.assign(new Error("invalid"), { code: "22P05" });
  log.add();
  await log.log.flush();
  assert.deepEqual(log.losses.map(({ rows, reason }) => [rows, reason]), [[1, "refused"]]);
  log.state.error = null;
  const later = log.add();
  await log.log.flush();
  assert.deepEqual(log.written(), [later]);
});

Deno.test("closing writes what waits, and gives up on a database that is away", async () => {
  const log = openLog({ gatherMs: 60_000 });
  const id = log.add();
  await log[Symbol.asyncDispose]();
  assert.deepEqual(log.written(), [id]);
  const away = openLog({ gatherMs: 60_000 });
  away.state.error = AWAY;
  away.add();
  await away[Symbol.asyncDispose]();
  assert.deepEqual(away.losses.map(({ rows, reason }) => [rows, reason]), [[1, "away"]]);
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

Deno.test("a stream's row is complete when both its head and its end are there, in either order", async () => {
  await using log = openLog();
  const open = () => {
    const start = {
      requestId: newId("req"),
      startedAt: performance.now() - 50,
      method: "POST",
      clientRequestId: null,
    };
    const request = new OpenRequest(log.log, start, { account: "acc_1", key: null }, "chat");
    request.beginStream();
    return request;
  };
  const usual = open();
  usual.respond(200, null, 5);
  assert.equal(log.log.take(), null);
  usual.endStream("upstream_failed");
  const quick = open();
  quick.endStream(null);
  assert.equal(JSON.parse(log.log.take()!.rows).length, 1);
  quick.respond(200, null, 5);
  const [row] = JSON.parse(log.log.take()!.rows);
  assert.deepEqual([row.status, row.error_code, row.first_byte_ms], [200, undefined, 5]);
  assert.ok(row.duration_ms >= 50, JSON.stringify(row));
});
