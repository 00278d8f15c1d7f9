import assert from "node:assert/strict";
import fc from "fast-check";
import { fraction } from "../../lib/money.ts";
import { apportion } from "./price_drama.ts";

Deno.test("shares of a sum add up to the last digit", () => {
  const amount = fc.tuple(fc.nat(10_000_000), fc.integer({ min: 0, max: 12 })).map(([n, places]) =>
    fraction(`0.${String(n).padStart(places, "0").slice(0, 12).padEnd(1, "0")}`)
  );
  fc.assert(fc.property(
    fc.array(amount, { minLength: 1, maxLength: 40 }),
    fc.integer({ min: 0, max: 6 }),
    (amounts, scale) => {
      const sum = amounts.reduce((a, b) => ({
        num: a.num * b.den + b.num * a.den,
        den: a.den * b.den,
      }));
      const shares = apportion(amounts, sum, scale);
      const unit = 10n ** BigInt(12 - scale);
      const rounded = (2n * sum.num * 10n ** BigInt(scale) + sum.den) / (2n * sum.den) * unit;
      assert.equal(shares.reduce((a, b) => a + b, 0n), rounded);
      for (const [at, { num, den }] of amounts.entries()) {
        const exact = num * 10n ** 12n / den;
        const off = shares[at]! - exact;
        assert.ok(off < unit && off > -unit - 1n);
      }
    },
  ));
});
