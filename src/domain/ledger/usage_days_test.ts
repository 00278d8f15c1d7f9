import assert from "node:assert/strict";
import fc from "fast-check";
import { decimal } from "../../lib/money.ts";
import type { Queries } from "../../platform/database/database.ts";
import { rollUpUsage, usageChart, usageDays } from "./usage_days.ts";

const answering = (...rows: unknown[]) => (() => Promise.resolve(rows)) as unknown as Queries;

Deno.test("a day's usage is read from text, amounts exactly", async () => {
  const row = {
    account_id: "acc_1",
    day: "2026-01-31",
    model: "m",
    calls: "3",
    failed: "1",
    charged: "0.100000000000",
    quota: "7",
    cost: "0.250000000000",
    uncosted: "2",
    input_tokens: "11",
    output_tokens: "5",
    images: "4",
    seconds: "2.500000000000",
    characters: "9",
  };
  const whole = { ...row, seconds: "2.000000000000" };
  const [day, other] = await usageDays(answering(row, whole), { from: "2026-01-01" });
  assert.equal(other!.seconds, "2");
  assert.deepEqual(day, {
    account: "acc_1",
    day: "2026-01-31",
    model: "m",
    calls: 3,
    failed: 1,
    charged: "0.10",
    quota: 7,
    cost: "0.25",
    uncosted: 2,
    input_tokens: 11,
    output_tokens: 5,
    images: 4,
    seconds: "2.5",
    characters: 9,
  });
});

Deno.test("usage of one account, or of all", async () => {
  const asked: unknown[][] = [];
  const sql = ((_: unknown, ...values: unknown[]) => {
    asked.push(values);
    return Promise.resolve([]);
  }) as unknown as Queries;
  await usageDays(sql, { account: "acc_1", from: "2026-01-01" });
  await usageDays(sql, { from: "2026-01-01" });
  assert.deepEqual(asked, [["acc_1", "2026-01-01"], [null, "2026-01-01"]]);
});

Deno.test("a chart's amounts are exact, however many decimals they are written with", async () => {
  const point = async (charged: string) => {
    const lines = ["2026-01-31", "m", "3", "1", charged, "16"].join("\t");
    return (await usageChart(answering({ lines }), "acc_1", "2026-01-01"))[0]!;
  };
  assert.deepEqual(await point("12.345000000000"), {
    day: "2026-01-31",
    model: "m",
    calls: 3,
    failed: 1,
    charged: decimal("12.345"),
    tokens: 16,
  });
  const amount = fc.tuple(fc.bigInt(0n, 10n ** 20n - 1n), fc.stringMatching(/^[0-9]{0,12}$/));
  await fc.assert(fc.asyncProperty(amount, async ([whole, decimals]) => {
    const text = decimals === "" ? String(whole) : `${whole}.${decimals}`;
    assert.equal((await point(text)).charged, decimal(text));
  }));
  assert.deepEqual(await usageChart(answering({ lines: null }), "acc_1", "2026-01-01"), []);
  const two = answering({ lines: "a\tm\t1\t0\t0\t0\nb\tm\t1\t0\t0\t0" });
  assert.deepEqual((await usageChart(two, "acc_1", "a")).map(({ day }) => day), ["a", "b"]);
});

Deno.test("usage is added up, a batch at a time, until nothing is left", async () => {
  const left = [true, true, false];
  const limits: number[] = [];
  const sql = ((_: unknown, limit: number) => {
    limits.push(limit);
    return Promise.resolve([{ more: left.shift()! }]);
  }) as unknown as Queries;
  await rollUpUsage(sql, 7);
  assert.deepEqual(limits, [7, 7, 7]);
});
