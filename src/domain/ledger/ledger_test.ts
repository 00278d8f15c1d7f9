import assert from "node:assert/strict";
import { price } from "../../../test/helpers/prices.ts";
import { fakeTime } from "../../../test/helpers/fake_time.ts";
import { fraction } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import { ConnectionError } from "../../platform/database/storage_error.ts";
import type { HoldRequest } from "./hold.ts";
import { HoldRenewer } from "./hold_renewer.ts";
import type { Item, Outcome } from "./item.ts";
import { openLedger } from "./ledger.ts";

const PRICE = price("per_call", "image", { price: "0.04" });
const REQUEST: HoldRequest = {
  id: "req_1",
  account: "acc_1",
  quote: { model: "m", kind: null, amount: fraction("0.1"), units: 0n, price: PRICE },
  ttlSeconds: 600,
};
const CHARGE = { amount: fraction("0.1"), units: 0n, usage: {} };
const away = () => new ConnectionError("CONNECTION_CLOSED", "away");

type Statement = "ledger_run" | "ledger_settle_late";

/** A ledger whose database answers every item with `outcome`, or fails with `error`. */
function open({ countMax }: { countMax?: number } = {}) {
  const items: (Item & { statement: Statement })[] = [];
  const state = {
    outcome: {} as Partial<Outcome>,
    late: {} as Partial<Outcome>,
    error: null as Error | null,
  };
  const sql = (strings: TemplateStringsArray, doc: string) => {
    const statement: Statement = strings[0]!.includes("late") ? "ledger_settle_late" : "ledger_run";
    const given = [JSON.parse(doc)].flat() as Item[];
    items.push(...given.map((item) => ({ ...item, statement })));
    if (state.error !== null) return Promise.reject(state.error);
    const isLate = statement === "ledger_settle_late";
    return Promise.resolve(given.map((item, n) => ({
      n,
      id: item.id,
      outcome: item.op === "hold" ? "held" : item.op === "checkpoint" ? "checkpointed" : "resolved",
      state: item.op === "hold" ? "open" : "settled",
      account_id: "acc_1",
      allocations: ["cash:1"],
      held: ["1"],
      taken: ["0.1"],
      shortfall: null,
      ...(isLate ? state.late : state.outcome),
    })));
  };
  const exceeded: string[] = [];
  const orphans: string[] = [];
  const renewer = new HoldRenewer();
  const ledger = openLedger({
    database: { sql } as unknown as Database,
    money: () => ({ currency: "EUR", currencyScale: 6 }),
    onExceeded: ({ id }) => exceeded.push(id),
    onOrphanedHold: (id) => orphans.push(id),
    renewer,
    pending: { countMax },
  });
  return { ledger, state, items, exceeded, orphans, renewer };
}

Deno.test("a hold that is renewed has a short lease, another its whole time", async () => {
  const { ledger, items, renewer } = open();
  await ledger.hold(REQUEST);
  assert.deepEqual([items.at(-1)!.ttl_seconds, renewer.size], [600, 0]);
  await ledger.hold({ ...REQUEST, isRenewed: true });
  assert.deepEqual([items.at(-1)!.ttl_seconds, renewer.size], [60, 1]);
  await ledger.hold({ ...REQUEST, id: "req_2", isRenewed: true, ttlSeconds: 30 });
  assert.deepEqual([items.at(-1)!.ttl_seconds, renewer.size], [30, 2]);
  assert.equal(items.at(-1)!.scale, 6);
});

Deno.test("a hold that fails is not renewed", async () => {
  const { ledger, state, renewer } = open();
  state.outcome = { outcome: "insufficient" };
  await assert.rejects(ledger.hold({ ...REQUEST, isRenewed: true }), {
    code: "insufficient_balance",
  });
  assert.equal(renewer.size, 0);
});

Deno.test("every way to resolve a hold ends its renewal", async () => {
  const { ledger, state, renewer } = open();
  const renewed = async (resolve: () => Promise<unknown>) => {
    state.error = null;
    await ledger.hold({ ...REQUEST, isRenewed: true });
    assert.equal(renewer.size, 1);
    await resolve();
    return renewer.size;
  };
  assert.equal(await renewed(() => ledger.settle("req_1", CHARGE)), 0);
  assert.equal(await renewed(() => ledger.release("req_1")), 0);
  const failing = (error: Error, resolve: () => Promise<unknown>) => () => {
    state.error = error;
    return assert.rejects(resolve());
  };
  assert.equal(await renewed(failing(away(), () => ledger.release("req_1"))), 0);
  const wrong = new Error("wrong");
  const again = () => ledger.settleAgain("req_1", CHARGE, "acc_1", { error: wrong, waitMs: 0 });
  assert.equal(await renewed(failing(wrong, again)), 0);
  assert.equal(await renewed(failing(wrong, () => ledger.settleDelivered("req_1", CHARGE))), 0);
  assert.equal(await renewed(failing(wrong, () => ledger.settle("req_1", CHARGE))), 1, "not yet");
  await ledger.pending[Symbol.asyncDispose]();
});

Deno.test("a settlement beyond its hold is told, the first time", async () => {
  const { ledger, state, exceeded } = open();
  await ledger.settle("within", CHARGE);
  state.outcome = { shortfall: "0.5" };
  await ledger.settle("beyond", CHARGE);
  assert.deepEqual(exceeded, ["beyond"]);
  state.outcome = { shortfall: "0.5", outcome: "already", state: "released" };
  await ledger.settle("again", CHARGE);
  assert.deepEqual(exceeded, ["beyond"]);
});

Deno.test("a hold that a sweeper resolved is settled late; a released one is not", async () => {
  const { ledger, state, items } = open();
  const statements = () => items.splice(0).map(({ statement }) => statement);
  await ledger.settle("req_1", CHARGE, "acc_1");
  assert.deepEqual(statements(), ["ledger_run"]);
  state.outcome = { outcome: "already", state: "released" };
  await ledger.settle("req_1", CHARGE);
  assert.deepEqual(statements(), ["ledger_run"]);
  state.outcome = { outcome: "already", state: "expired", taken: ["0"] };
  const { taken, isFirst } = await ledger.settle("req_1", CHARGE);
  assert.deepEqual([taken, isFirst], ["0.10", true]);
  assert.deepEqual(statements(), ["ledger_run", "ledger_settle_late"]);
});

Deno.test("a settlement of a delivered response waits for the database, as long as there is room", async () => {
  using time = fakeTime();
  const { ledger, state, renewer, items } = open({ countMax: 1 });
  await ledger.hold({ ...REQUEST, isRenewed: true });
  state.error = away();
  await ledger.settleDelivered("req_1", CHARGE, "acc_1");
  assert.deepEqual([ledger.pending.size, renewer.size], [1, 1]);
  await assert.rejects(ledger.settleDelivered("req_2", CHARGE), ConnectionError);
  state.error = null;
  await time.advance(200);
  assert.deepEqual([ledger.pending.size, renewer.size], [0, 0]);
  assert.equal(items.at(-1)!.account_id, "acc_1");
  await ledger.settleDelivered("req_1", CHARGE);
  assert.equal(ledger.pending.size, 0, "when it is there, nothing waits");
});

Deno.test("a waiting settlement that fails finally ends the renewal of its hold", async () => {
  using time = fakeTime();
  const { ledger, state, renewer } = open();
  await ledger.hold({ ...REQUEST, isRenewed: true });
  state.error = away();
  await ledger.settleDelivered("req_1", CHARGE);
  state.error = new Error("wrong");
  await time.advance(200);
  assert.deepEqual([ledger.pending.size, renewer.size], [0, 0]);
});

Deno.test("a settlement is repeated while its caller waits", async () => {
  using time = fakeTime();
  const { ledger, state, items } = open();
  state.error = away();
  const settling = ledger.settleAgain("req_1", CHARGE, "acc_1", { error: away(), waitMs: 1_000 });
  await time.advance(60);
  state.error = null;
  await time.advance(1_000);
  assert.equal((await settling).taken, "0.10");
  assert.equal(items.length, 2);
});

Deno.test("a checkpoint of a hold that does not exist is an error", async () => {
  const { ledger, state, items } = open();
  await ledger.checkpoint("req_1", CHARGE, "acc_1");
  assert.equal(items.at(-1)!.op, "checkpoint");
  state.outcome = { outcome: "unknown" };
  await assert.rejects(ledger.checkpoint("req_1", CHARGE), /checkpoint of req_1/);
});

Deno.test("a hold left by its scope is released, and one that cannot be is told", async () => {
  const { ledger, state, items, orphans } = open();
  {
    await using _hold = await ledger.hold(REQUEST);
  }
  assert.equal(items.at(-1)!.op, "release");
  {
    await using _hold = await ledger.hold(REQUEST);
    state.error = away();
  }
  assert.deepEqual(orphans, ["req_1"]);
});

Deno.test("open holds are renewed by the ledger's own database", async () => {
  const { ledger, renewer } = open();
  renewer.add("req_1", 0);
  await ledger.renew();
  assert.equal(renewer.size, 0, "its time was over");
});
