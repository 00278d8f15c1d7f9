import assert from "node:assert/strict";
import { decimal } from "../../lib/money.ts";
import type { InvoiceLine } from "./invoice.ts";
import { compareInvoice, type RecordedCost } from "./reconcile.ts";

const billed = (model: string, amount: string, day: string | null = null): InvoiceLine => ({
  model,
  day,
  amount: decimal(amount),
});

const recorded = (
  model: string,
  cost: string | null,
  { day = null, uncosted = cost === null ? 1 : 0 }: { day?: string | null; uncosted?: number } = {},
): RecordedCost => ({ model, day, cost, uncosted, requests: 3 });

const compare = (lines: InvoiceLine[], costs: RecordedCost[], isByDay = false) =>
  compareInvoice(lines, costs, { tolerance: decimal("0.01"), isByDay });

const short = (result: ReturnType<typeof compare>) =>
  result.lines.map(({ model, billed, recorded, difference, status }) => [
    ...[model, billed, recorded, difference, status],
  ]);

Deno.test("each model has what was billed beside what was recorded, and the difference", () => {
  const result = compare(
    [billed("same", "1.005"), billed("more", "2"), billed("new", "3"), billed("less", "0.5")],
    [recorded("same", "1"), recorded("more", "1.5"), recorded("less", "1"), recorded("gone", "4")],
  );
  assert.deepEqual(short(result), [
    ["gone", null, "4", "-4.00", "not_billed"],
    ["less", "0.50", "1", "-0.50", "differs"],
    ["more", "2.00", "1.5", "0.50", "differs"],
    ["new", "3.00", null, "3.00", "not_recorded"],
    ["same", "1.005", "1", "0.005", "equal"],
  ]);
  assert.deepEqual([result.billed, result.recorded, result.difference, result.ok], [
    ...["6.505", "7.50", "-0.995"],
    false,
  ]);
});

Deno.test("a difference as large as the tolerance is accepted, and one of a unit more is not", () => {
  const isOk = (amount: string) => compare([billed("m", amount)], [recorded("m", "1")]).ok;
  assert.deepEqual(["1.01", "0.99", "1.010000000001", "0.989999999999"].map(isOk), [
    ...[true, true],
    ...[false, false],
  ]);
});

Deno.test("a cost that is not known is not compared as zero", () => {
  const result = compare([billed("m", "0")], [recorded("m", null)]);
  assert.deepEqual(short(result), [["m", "0.00", null, "0.00", "cost_unknown"]]);
  assert.equal(result.ok, false);
  const partly = compare([billed("m", "1")], [recorded("m", "1", { uncosted: 2 })]);
  assert.equal(partly.lines[0]!.status, "cost_unknown");
});

Deno.test("models are found by their names without what follows a comma, and without a date", () => {
  const lines = [
    billed("Big-2025-08-06, input", "1"),
    billed("big-2025-08-06, output", "2"),
    billed("small-20250101", "3"),
    billed("other@20250101", "4"),
    billed("big-mini-2025-08-06", "5"),
  ];
  const costs = [recorded("big", "3"), recorded("small-20250202", "3"), recorded("other", "4")];
  assert.deepEqual(short(compare(lines, costs)).map(([model, amount]) => [model, amount]), [
    ["big", "3.00"],
    ["big-mini-2025-08-06", "5.00"],
    ["other", "4.00"],
    ["small-20250202", "3.00"],
  ]);
  const both = [recorded("big", "1"), recorded("big-2025-08-06", "2")];
  assert.ok(
    compare([billed("big", "1"), billed("big-2025-08-06", "2")], both).ok,
    "exact names first",
  );
});

Deno.test("by day, a model has a line for each day", () => {
  const lines = [
    billed("m", "1", "2026-01-01"),
    billed("m", "1", "2026-01-01"),
    billed("m", "5", "2026-01-03"),
  ];
  const costs = [
    recorded("m", "2", { day: "2026-01-01" }),
    recorded("m", "5", { day: "2026-01-02" }),
  ];
  assert.deepEqual(compare(lines, costs, true).lines.map(({ day, status }) => [day, status]), [
    ["2026-01-01", "equal"],
    ["2026-01-02", "not_billed"],
    ["2026-01-03", "not_recorded"],
  ]);
  assert.ok(compare(lines, [recorded("m", "7")]).ok, "and one for the month otherwise");
});

Deno.test("credits reduce what was billed, and nothing at all is equal", () => {
  assert.ok(compare([billed("m", "3"), billed("m", "-2")], [recorded("m", "1")]).ok);
  assert.deepEqual(compare([], []), {
    ...{ lines: [], billed: "0.00", recorded: "0.00", difference: "0.00", ok: true },
  });
});
