import assert from "node:assert/strict";
import { fraction } from "../../lib/money.ts";
import { amountFields, chargeFields, type Outcome } from "./item.ts";
import { releaseItem } from "./release.ts";
import { checkpointItem, readCheckpoint, readResolution, settleItem } from "./settle.ts";

const charge = { amount: fraction("0.5"), units: 3n, usage: { images: 3 } };

const outcome = (more: Partial<Outcome> = {}): Outcome => ({
  n: 0,
  id: "req_1",
  outcome: "resolved",
  state: "settled",
  allocations: ["cash:acc_1"],
  held: ["2.000000000000"],
  taken: ["0.500000000000"],
  shortfall: null,
  account_id: "acc_1",
  ...more,
});

Deno.test("items of a hold say what to do with it and with how much", () => {
  const { num, den } = charge.amount;
  const fields = { num: String(num), den: String(den), units: "3", usage: { images: 3 } };
  assert.deepEqual(settleItem("req_1", charge, "acc_1"), {
    op: "settle",
    id: "req_1",
    account_id: "acc_1",
    ...fields,
  });
  assert.equal(checkpointItem("req_1", charge).op, "checkpoint");
  assert.deepEqual(releaseItem("req_1", "acc_1"), {
    op: "release",
    id: "req_1",
    account_id: "acc_1",
  });
});

Deno.test("a charge says which upstream served it, and its cost if that is known", () => {
  const served = { upstream: "acme/sea-2", cost: fraction("0.25") };
  assert.deepEqual(
    chargeFields({ ...charge, served }),
    { ...chargeFields(charge), upstream: "acme/sea-2", cost: "0.25" },
  );
  const unknown = chargeFields({ ...charge, served: { ...served, cost: null } });
  assert.deepEqual(unknown, { ...chargeFields(charge), upstream: "acme/sea-2", cost: undefined });
});

Deno.test("no amount of money is negative", () => {
  const fields = amountFields({ num: 0n, den: 1n }, 0n);
  assert.deepEqual(fields, { num: "0", den: "1", units: "0" });
  for (const [num, den, units] of [[-1n, 1n, 0n], [1n, 0n, 0n], [1n, -1n, 0n], [1n, 1n, -1n]]) {
    assert.throws(() => amountFields({ num: num!, den: den! }, units!), RangeError);
  }
});

Deno.test("a resolution from one money bucket is that bucket's, without a sum", () => {
  assert.deepEqual(readResolution(outcome()), {
    id: "req_1",
    account: "acc_1",
    state: "settled",
    isFirst: true,
    held: "2.00",
    taken: "0.50",
    quota: 0n,
    shortfall: "0.00",
    isBeyondHold: false,
  });
  const again = readResolution(outcome({ outcome: "already", taken: null }));
  assert.deepEqual([again.isFirst, again.taken], [false, "0.00"]);
});

Deno.test("a resolution from quota alone took no money", () => {
  const { held, taken, quota } = readResolution(
    outcome({ allocations: ["quota:1"], held: ["10"], taken: ["4"] }),
  );
  assert.deepEqual([held, taken, quota], ["0.00", "0.00", 4n]);
});

Deno.test("a settlement is beyond its hold when something was not paid, or paid from elsewhere", () => {
  const isBeyond = (more: Partial<Outcome>) => readResolution(outcome(more)).isBeyondHold;
  assert.equal(isBeyond({ shortfall: "0.000001000000" }), true);
  assert.equal(isBeyond({ shortfall: "0.000000000000" }), false);
  const extra = { allocations: ["cash:1", "cash:2"], taken: ["2", "1"] };
  assert.equal(isBeyond({ ...extra, held: ["2", "0.000000000000"] }), true);
  assert.equal(isBeyond({ ...extra, held: ["2", "1"] }), false);
  const three = { allocations: ["cash:1", "cash:2", "cash:3"], taken: ["2", "1", "1"] };
  assert.equal(isBeyond({ ...three, held: ["2", "1", "0"] }), true);
  assert.equal(isBeyond({ allocations: [], held: [], taken: [] }), false);
});

Deno.test("a hold that does not exist cannot be resolved, nor get a checkpoint", () => {
  for (const result of ["unknown", "open", "conflict"] as const) {
    assert.throws(() => readResolution(outcome({ outcome: result })), /Cannot resolve req_1/);
  }
  assert.throws(() => readCheckpoint(outcome({ outcome: "unknown" })), /checkpoint of req_1/);
  assert.doesNotThrow(() => readCheckpoint(outcome({ outcome: "checkpointed" })));
});
