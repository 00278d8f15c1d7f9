import assert from "node:assert/strict";
import type { Price } from "../../platform/config/config.ts";
import { snapshotOf } from "./snapshot.ts";
import { storedPrice, storedUsage } from "./stored_price.ts";

Deno.test("a stored price is read as it was written, whatever its billing type", () => {
  for (const billingType of ["token", "per_call", "duration"] as const) {
    const price: Price = {
      book: "default",
      model: "m",
      billingType,
      unit: "image",
      terms: { price: "0.04", minimum_charge: "0" },
      effectiveAt: 0,
    };
    assert.deepEqual(storedPrice.parse(snapshotOf(price)), snapshotOf(price));
  }
  assert.throws(() => storedPrice.parse({ model: "m", billing_type: "barter" }));
});

Deno.test("stored usage has counts from zero up", () => {
  const usage = { images: 0, calls: 1, seconds: "5.25", estimated: true };
  assert.deepEqual(storedUsage.parse(usage), usage);
  for (const images of [-1, 1.5, "1"]) assert.throws(() => storedUsage.parse({ images }));
});
