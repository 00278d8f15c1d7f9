import assert from "node:assert/strict";
import { perMillion, price } from "../../../test/helpers/prices.ts";
import { formatDecimal, roundHalfUp } from "../../lib/money.ts";
import { maxPriceOf } from "./max_price.ts";
import { priceOf } from "./price.ts";

Deno.test("an invalid quantity is rejected, not charged", () => {
  const perImage = price("per_call", "image", { price: "0.04" });
  for (const images of [-1, 1.5, NaN, Infinity, 2 ** 53]) {
    assert.throws(() => priceOf(perImage, { images }), RangeError);
  }
  const perSecond = price("duration", "second", { price: "1" });
  assert.throws(() => priceOf(perSecond, { seconds: 1.5 }), RangeError);
  assert.throws(() => priceOf(perSecond, { seconds: "-1" }), RangeError);
  assert.throws(() => priceOf(perSecond, { seconds: "1e3" }), TypeError);
});

Deno.test("what was not metered is an error, not free", () => {
  assert.throws(
    () => priceOf(price("per_call", "image", { price: "0.04" }), { calls: 1 }),
    /images is not metered/,
  );
  assert.throws(
    () => priceOf(price("duration", "second", { price: "1" }), {}),
    /seconds is not metered/,
  );
  assert.throws(
    () => priceOf(price("per_call", "parsec", { price: "1" }), { calls: 1 }),
    /parsec is not metered/,
  );
});

Deno.test("a price that lacks an amount, or has an unknown unit, is an error, not free", () => {
  const incomplete = perMillion({ input_price: "1" });
  for (const usage of [{ output_tokens: 1 }, { input_tokens: 1, reasoning_tokens: 1 }]) {
    assert.throws(() => priceOf(incomplete, usage), /m in default has no output_price/);
    assert.throws(() => maxPriceOf(incomplete, usage), /m in default has no output_price/);
  }
  assert.throws(() => priceOf(perMillion({}), { input_tokens: 1 }), /has no input_price/);
  assert.equal(
    formatDecimal(roundHalfUp(priceOf(incomplete, { input_tokens: 1_000_000 }), 6)),
    "1.00",
    "a model without output needs no price for it",
  );
  const odd = price("duration", "fortnight", { price: "1" });
  assert.throws(() => priceOf(odd, { seconds: 1 }), /Unknown unit "fortnight"/);
});
