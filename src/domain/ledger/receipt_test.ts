import assert from "node:assert/strict";
import fc from "fast-check";
import { decimal, formatDecimal } from "../../lib/money.ts";
import type { PriceSnapshot } from "../pricing/snapshot.ts";
import type { Outcome } from "./item.ts";
import { bySource, type ReceiptRow, toReceipt } from "./receipt.ts";
import { readResolution } from "./settle.ts";

const PRICE = { model: "m", unit: "image" } as PriceSnapshot;

const row = (more: Partial<ReceiptRow> = {}): ReceiptRow => ({
  id: "req_1",
  request_id: "req_1",
  client_request_id: null,
  key_id: "key_1",
  end_user: null,
  metadata: { team: "a" },
  endpoint: "chat",
  model: "m",
  state: "settled",
  allocations: ["quota:1", "gift:2", "cash:acc_1"],
  held: ["10", "0.50", "2.000000000000"],
  taken: ["4", "0.50", "1.25"],
  shortfall: null,
  usage: { images: 1 },
  price: PRICE,
  created_at: new Date("2026-01-01T00:00:00.900Z"),
  resolved_at: new Date("2026-01-01T00:00:05.100Z"),
  ...more,
});

Deno.test("a receipt sums money by what paid, and keeps quota apart", () => {
  assert.deepEqual(toReceipt(row(), "EUR"), {
    id: "req_1",
    object: "usage.receipt",
    request_id: "req_1",
    client_request_id: null,
    key: "key_1",
    user: null,
    metadata: { team: "a" },
    endpoint: "chat",
    model: "m",
    status: "settled",
    currency: "EUR",
    held: "2.50",
    settled: "1.75",
    released: "0.75",
    shortfall: "0.00",
    capped: false,
    from: { quota: 4, gift: "0.50", cash: "1.25" },
    usage: { images: 1 },
    price: PRICE,
    created: 1_767_225_600,
    completed: 1_767_225_605,
  });
});

Deno.test("an open receipt has taken and released nothing", () => {
  const open = toReceipt(row({ state: "open", taken: null, resolved_at: null }), "EUR");
  assert.deepEqual(
    [open.held, open.settled, open.released, open.completed],
    ["2.50", "0.00", "0.00", null],
  );
});

Deno.test("the smallest amount there is counts", () => {
  const tiny = "0.000000000001";
  const { held, released } = toReceipt(
    row({ allocations: ["cash:1"], held: [tiny], taken: ["0"] }),
    "EUR",
  );
  assert.deepEqual([held, released], [tiny, tiny]);
});

Deno.test("what was taken beyond the hold does not count against what was released", () => {
  const { held, settled, released, shortfall, capped } = toReceipt(
    row({
      allocations: ["gift:1", "cash:2", "cash:3"],
      held: ["1", "1", "0"],
      taken: ["0.25", "1", "0.50"],
      shortfall: "0.100000000000",
    }),
    "EUR",
  );
  assert.deepEqual([held, settled, released, shortfall], ["2.00", "1.75", "0.75", "0.10"]);
  assert.equal(capped, true);
});

/** Allocations as the ledger makes them: each bucket gives no more than it holds. */
const allocations = fc.array(
  fc.record({
    source: fc.constantFrom("quota", "gift", "cash"),
    held: fc.integer({ min: 1, max: 1_000_000 }),
    part: fc.integer({ min: 0, max: 100 }),
  }),
  { minLength: 1, maxLength: 6 },
);

Deno.test("held is settled and released, and is all of its sources", () => {
  fc.assert(fc.property(allocations, (parts) => {
    const outcome: Outcome = {
      n: 0,
      id: "req_1",
      outcome: "resolved",
      state: "settled",
      account_id: "acc_1",
      allocations: parts.map(({ source }, at) => `${source}:${at}`),
      held: parts.map(({ held }) => String(held)),
      taken: parts.map(({ held, part }) => String(Math.floor(held * part / 100))),
      shortfall: null,
    };
    const { allocations, held, taken } = outcome;
    const receipt = toReceipt(
      row({ allocations: allocations!, held: held!, taken: taken! }),
      "EUR",
    );
    assert.equal(decimal(receipt.held), decimal(receipt.settled) + decimal(receipt.released));
    assert.equal(decimal(receipt.settled), decimal(receipt.from.gift) + decimal(receipt.from.cash));
    const resolution = readResolution(outcome);
    assert.equal(resolution.held, receipt.held);
    assert.equal(resolution.taken, receipt.settled);
    assert.equal(resolution.quota, BigInt(receipt.from.quota));
    const sums = bySource(allocations!, taken!);
    assert.equal(formatDecimal(sums.gift + sums.cash), receipt.settled);
  }));
});
