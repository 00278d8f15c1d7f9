import assert from "node:assert/strict";
import { openLogToArray } from "../../../test/helpers/request_log.ts";
import { sleep } from "../../lib/timers.ts";
import { ConnectionError } from "../../platform/database/storage_error.ts";

const AWAY = new ConnectionError("ECONNREFUSED", "away");

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

Deno.test("another statement may carry the rows: written with it, or waiting again when it fails", async () => {
  await using log = openLogToArray({ gatherMs: 60_000 });
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
