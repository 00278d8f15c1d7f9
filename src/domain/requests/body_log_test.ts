import assert from "node:assert/strict";
import { newId } from "../../lib/ids.ts";
import type { Queries } from "../../platform/database/database.ts";
import { ConnectionError } from "../../platform/database/storage_error.ts";
import { BodyLog, type BodyLogLimits } from "./body_log.ts";
import type { BodyRules } from "./body_note.ts";
import { BodySeal } from "./body_seal.ts";
import { OpenRequest } from "./open_request.ts";

const AWAY = new ConnectionError("ECONNREFUSED", "away");
const RULES: BodyRules = { keep: "all", bytesMax: 1024 };

/** A log that writes to an array. */
function openLog(limits: Partial<BodyLogLimits> = {}) {
  const written: string[][] = [];
  const losses: [requests: number, reason: string][] = [];
  const state: { error: Error | null } = { error: null };
  const sql = (_: unknown, rows: string) => {
    if (state.error !== null) return Promise.reject(state.error);
    written.push(JSON.parse(rows).map(({ id }: { id: string }) => id));
    return Promise.resolve();
  };
  const log = new BodyLog({
    sql: sql as unknown as Queries,
    seal: new BodySeal(["k".repeat(32)]),
    onLoss: ({ requests, reason }) => losses.push([requests, reason]),
    limits: { gatherMs: 60_000, closeMs: 100, ...limits },
  });
  /** A request with a body of so many bytes, which has ended; its id. */
  const add = (bytes = 10, { status = 200, rules = RULES } = {}): string => {
    const start = {
      requestId: newId("req"),
      startedAt: 0,
      method: "POST",
      clientRequestId: null,
    };
    const caller = { account: "acc_1", key: null };
    const request = new OpenRequest({ add() {} }, start, caller, "chat");
    request.bodies = log.open(request, rules);
    request.bodies.noteRequest(new Uint8Array(bytes));
    request.respond(status, null, 1);
    return request.id;
  };
  return {
    ...{ log, add, written, losses, state },
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

Deno.test("bodies of requests that end together are written together", async () => {
  await using opened = openLog({ batchMax: 2 });
  const { log, add, written } = opened;
  const ids = [add(), add(), add()];
  await log.flush();
  assert.deepEqual(written, [ids.slice(0, 2), ids.slice(2)]);
});

Deno.test("bodies of requests that are not kept take no memory", async () => {
  await using opened = openLog({ bytesMax: 1024 });
  const { add, losses } = opened;
  const rules: BodyRules = { ...RULES, keep: "errors" };
  for (let n = 0; n < 5; n++) add(1024, { rules });
  assert.deepEqual(losses, []);
  add(1024, { rules, status: 500 });
  add(1024, { rules, status: 500 });
  assert.deepEqual(losses, [[1, "full"]]);
});

Deno.test("what is written takes no memory", async () => {
  await using opened = openLog({ bytesMax: 2048 });
  const { log, add, losses, written } = opened;
  add(5000);
  add(5000);
  add(1);
  assert.deepEqual(losses, [[1, "full"]]);
  await log.flush();
  assert.equal(written.flat().length, 2);
  add(5000);
  assert.equal(losses.length, 1);
});

Deno.test("bodies wait for a database that is away, and are lost when it stays away", async () => {
  await using opened = openLog({ awayMs: 30 });
  const { log, add, written, losses, state } = opened;
  state.error = AWAY;
  const id = add();
  await log.flush();
  state.error = null;
  await log.flush();
  assert.deepEqual([written, losses], [[[id]], []]);
  state.error = AWAY;
  add();
  await log.flush();
  await new Promise((resume) => setTimeout(resume, 50));
  await log.flush();
  assert.deepEqual(losses, [[1, "away"]]);
});

Deno.test("closing writes what waits, and gives up on a database that is away", async () => {
  const { log, add, written } = openLog();
  const id = add();
  await log[Symbol.asyncDispose]();
  assert.deepEqual(written, [[id]]);
  const away = openLog();
  away.state.error = AWAY;
  away.add();
  await away.log[Symbol.asyncDispose]();
  assert.deepEqual(away.losses, [[1, "away"]]);
});
