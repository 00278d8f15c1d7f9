import assert from "node:assert/strict";
import {
  formatDecimal,
  fraction,
  parseDecimal,
  roundHalfUp,
  roundUp,
  trimDecimal,
} from "./money.ts";

Deno.test("decimals are read exactly or not at all", () => {
  assert.equal(parseDecimal("0.000000000001"), 1n);
  assert.equal(parseDecimal("99999999999999999999.999999999999"), 10n ** 32n - 1n);
  assert.equal(parseDecimal("-1.5"), -1_500_000_000_000n);
  for (const text of ["", ".5", "1.", "1e3", "+1", " 1", "0x1", "1.0000000000001", "NaN", "１"]) {
    assert.equal(parseDecimal(text), null, text);
  }
});

Deno.test("decimals are written with two places at least and no idle zeros", () => {
  assert.equal(formatDecimal(0n), "0.00");
  assert.equal(formatDecimal(1_500_000_000_000n), "1.50");
  assert.equal(formatDecimal(-1n), "-0.000000000001");
  assert.equal(trimDecimal("10.000000000000"), "10.00");
  assert.equal(trimDecimal("-0.003456000000"), "-0.003456");
  assert.equal(trimDecimal("7"), "7.00");
  assert.equal(trimDecimal("7.000000000000", 0), "7");
});

Deno.test("amounts round up for holds and half up for charges", () => {
  const rounded = (text: string, scale: number) =>
    [roundUp, roundHalfUp].map((round) => formatDecimal(round(fraction(text), scale)));
  assert.deepEqual(rounded("0.004", 2), ["0.01", "0.00"]);
  assert.deepEqual(rounded("0.005", 2), ["0.01", "0.01"]);
  assert.deepEqual(rounded("0.01", 2), ["0.01", "0.01"]);
  assert.deepEqual(rounded("0", 2), ["0.00", "0.00"]);
  assert.deepEqual(rounded("1.5", 0), ["2.00", "2.00"]);
  assert.deepEqual(rounded("0.000000000001", 12), ["0.000000000001", "0.000000000001"]);
});
