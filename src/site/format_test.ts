import assert from "node:assert/strict";
import {
  formatBytes,
  formatDuration,
  formatMoney,
  formatMoneyShort,
  formatPrice,
  formatRelative,
  formatRoundDuration,
  formatTime,
  plural,
} from "./format.ts";

const USD = { currency: "USD", currencyScale: 6 };

Deno.test("an amount has two decimals or more, and at most the currency's scale", () => {
  const cases: [amount: string, written: string][] = [
    ["0", "$0.00"],
    ["0.000001", "$0.000001"],
    ["0.0000004", "<$0.000001"],
    ["-0.0000004", "-<$0.000001"],
    ["0.0000015", "$0.000002"],
    ["1234567.5", "$1,234,567.50"],
    ["99999999999999999999.123456789012", "$99,999,999,999,999,999,999.123457"],
    ["-12.340", "-$12.34"],
    ["100.00", "$100.00"],
  ];
  for (const [amount, written] of cases) assert.equal(formatMoney(amount, USD), written);
  assert.equal(formatMoney("12.5", { ...USD, currency: "EUR" }), "€12.50");
  assert.equal(formatMoney("12.5", { ...USD, currency: "CHF" }), "CHF\u00a012.50");
  assert.equal(formatMoney("1250", { currency: "JPY", currencyScale: 0 }), "¥1,250");
  assert.equal(formatPrice("0.000000000015", "USD"), "$0.000000000015");
});

Deno.test("a short amount is cut to cents and never shows 0 for more than 0", () => {
  assert.equal(formatMoneyShort("12.3456", "USD"), "$12.34");
  assert.equal(formatMoneyShort("0.009", "USD"), "<$0.01");
  assert.equal(formatMoneyShort("0.00", "USD"), "$0.00");
});

Deno.test("times, durations, sizes and counts are written for people", () => {
  const now = Date.parse("2026-03-01T12:00:00Z");
  assert.equal(formatRelative("2026-03-01T11:59:30Z", now), "just now");
  assert.equal(formatRelative("2026-03-01T09:00:00Z", now), "3 hours ago");
  assert.equal(formatRelative("2026-03-04T12:00:00Z", now), "in 3 days");
  assert.equal(formatTime("2026-03-01T00:05:09Z"), "Mar 1, 2026, 00:05:09 UTC");
  assert.equal(formatDuration(3_900), "1 h 5 min");
  assert.equal(formatDuration(7), "7 s");
  assert.equal(formatRoundDuration(15), "15 seconds");
  assert.equal(formatRoundDuration(60), "1 minute");
  assert.equal(formatRoundDuration(272_105), "3 days");
  assert.equal(formatBytes(1_500_000), "1.5 MB");
  assert.equal(plural(-1n, "image"), "-1 image");
  assert.equal(plural(1200, "request"), "1,200 requests");
});
