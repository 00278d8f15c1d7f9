import assert from "node:assert/strict";
import { ago, bytes, duration, money, moneyShort } from "./format.ts";

Deno.test("amounts are written to the last digit, and never pass through a number", () => {
  const cases: [amount: string, written: string][] = [
    ["0", "$0.00"],
    ["0.000001", "$0.000001"],
    ["1234567.5", "$1,234,567.50"],
    ["99999999999999999999.123456789012", "$99,999,999,999,999,999,999.123456789012"],
    ["-12.340", "-$12.34"],
    ["100.00", "$100.00"],
  ];
  for (const [amount, written] of cases) assert.equal(money(amount, "USD"), written);
  assert.equal(money("12.5", "EUR"), "€12.50");
  assert.equal(money("12.5", "CHF"), "CHF\u00a012.50");
});

Deno.test("a short amount is cut to cents, and what is not nothing never shows as nothing", () => {
  assert.equal(moneyShort("12.3456", "USD"), "$12.34");
  assert.equal(moneyShort("0.009", "USD"), "<$0.01");
  assert.equal(moneyShort("0.00", "USD"), "$0.00");
});

Deno.test("moments, spans and sizes read as people say them", () => {
  const now = Date.parse("2026-03-01T12:00:00Z");
  assert.equal(ago("2026-03-01T11:59:30Z", now), "just now");
  assert.equal(ago("2026-03-01T09:00:00Z", now), "3 hours ago");
  assert.equal(ago("2026-03-04T12:00:00Z", now), "in 3 days");
  assert.equal(duration(3_900), "1 h 5 min");
  assert.equal(duration(7), "7 s");
  assert.equal(bytes(1_500_000), "1.5 MB");
});
