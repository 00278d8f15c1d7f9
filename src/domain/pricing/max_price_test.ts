import assert from "node:assert/strict";
import fc from "fast-check";
import { perMillion, price } from "../../../test/helpers/prices.ts";
import { type Fraction } from "../../lib/money.ts";
import {
  type ContextTier,
  type PriceTerms,
  type ServiceTier,
  TOKEN_AMOUNT_NAMES,
  type TokenAmount,
} from "../../model_types/price_terms.ts";
import { INPUT_BUCKETS, OUTPUT_BUCKETS, type Usage } from "../../model_types/usage.ts";
import { maxPriceOf, type Possible } from "./max_price.ts";
import { priceOf } from "./price.ts";

const amount = fc.integer({ min: 0, max: 9999 }).map((cents) => (cents / 100).toFixed(2));
const amounts = Object.fromEntries(TOKEN_AMOUNT_NAMES.map((name) => [name, amount])) as Record<
  TokenAmount,
  typeof amount
>;
const optionalAmounts = fc.record(amounts, { requiredKeys: [] });

const tiers: fc.Arbitrary<ContextTier[]> = fc.uniqueArray(fc.integer({ min: 1, max: 2000 }), {
  maxLength: 4,
}).chain((bounds) =>
  fc.tuple(
    ...bounds.toSorted((a, b) => a - b).map((above) =>
      optionalAmounts.map((own) => ({ ...own, above_input_tokens: above }))
    ),
  )
);

const serviceTier: fc.Arbitrary<ServiceTier> = fc.oneof(
  fc.integer({ min: 1, max: 400 }).map((percent) => ({ multiplier: (percent / 100).toFixed(2) })),
  optionalAmounts,
);

const terms = fc.record(
  {
    ...amounts,
    minimum_charge: amount,
    tiers,
    service_tiers: fc.record({ priority: serviceTier, flex: serviceTier }, { requiredKeys: [] }),
    fees: fc.record({ web_search: amount }),
  },
  { requiredKeys: ["input_price", "output_price"] },
) as fc.Arbitrary<PriceTerms>;

const possible: fc.Arbitrary<Possible> = fc.record({
  serviceTier: fc.constantFrom(undefined, "priority", "flex", "unknown"),
  cachesForHour: fc.boolean(),
  hasAudio: fc.boolean(),
});

/** Counts that share a maximum, the buckets that are not possible being empty. */
function usageWithin(possible: Possible): fc.Arbitrary<Usage> {
  const isPossible = (bucket: string) =>
    (bucket !== "cache_write_1h_tokens" || possible.cachesForHour) &&
    (!bucket.startsWith("audio_") || possible.hasAudio);
  const counts = [...INPUT_BUCKETS, ...OUTPUT_BUCKETS].map((bucket) =>
    [bucket, isPossible(bucket) ? fc.nat(1000) : fc.constant(0)] as const
  );
  return fc.record({
    ...Object.fromEntries(counts),
    web_searches: fc.nat(5),
    service_tier: fc.constantFrom(undefined, possible.serviceTier),
  }) as fc.Arbitrary<Usage>;
}

type Buckets = typeof INPUT_BUCKETS | typeof OUTPUT_BUCKETS;

function total(usage: Usage, buckets: Buckets): number {
  let sum = 0;
  for (const bucket of buckets) sum += usage[bucket] ?? 0;
  return sum;
}

function compare(a: Fraction, b: Fraction): number {
  const difference = a.num * b.den - b.num * a.den;
  return difference === 0n ? 0 : difference > 0n ? 1 : -1;
}

const cases = possible.chain((one) =>
  fc.tuple(terms, fc.constant(one), usageWithin(one), fc.nat(500), fc.nat(500))
);

Deno.test("a hold covers every usage within its maximum, in any tier that may serve it", () => {
  fc.assert(
    fc.property(cases, ([terms, possible, usage, moreInput, moreOutput]) => {
      const price = perMillion(terms);
      const most = {
        input_tokens: total(usage, INPUT_BUCKETS) + moreInput,
        output_tokens: total(usage, OUTPUT_BUCKETS) + moreOutput,
        web_searches: usage.web_searches ?? 0,
      };
      const hold = maxPriceOf(price, most, possible);
      assert.ok(compare(hold, priceOf(price, usage)) >= 0);
    }),
    { numRuns: 3000 },
  );
});

Deno.test("within a tier, more of anything never costs less", () => {
  const names = [...INPUT_BUCKETS, ...OUTPUT_BUCKETS, "web_searches"] as const;
  fc.assert(
    fc.property(
      cases,
      fc.constantFrom(...names),
      fc.integer({ min: 1, max: 1000 }),
      ([terms, , usage], name, more) => {
        const price = perMillion(terms);
        const larger = { ...usage, [name]: (usage[name] ?? 0) + more };
        const bounds = (terms.tiers ?? []).map((tier) => tier.above_input_tokens);
        const tierOf = (one: Usage) =>
          bounds.filter((bound) => total(one, INPUT_BUCKETS) > bound).length;
        fc.pre(tierOf(usage) === tierOf(larger));
        assert.ok(compare(priceOf(price, larger), priceOf(price, usage)) >= 0);
      },
    ),
    { numRuns: 3000 },
  );
});

Deno.test("a hold is no higher than the dearest tier that the input can reach", () => {
  const tiered = perMillion({
    ...{ input_price: "1", output_price: "10" },
    tiers: [{ above_input_tokens: 1000, input_price: "2", output_price: "20" }],
    service_tiers: { priority: { multiplier: "3" } },
  });
  const hold = (input_tokens: number, possible?: Possible) => {
    const { num, den } = maxPriceOf(tiered, { input_tokens, output_tokens: 100 }, possible);
    return Number(num * 1_000_000n / den);
  };
  assert.equal(hold(1000), 2000); // 1,000 × 1 + 100 × 10
  assert.equal(hold(1001), 4002); // 1,001 × 2 + 100 × 20
  assert.equal(hold(1000, { serviceTier: "priority" }), 6000);
  assert.equal(hold(1000, { serviceTier: "unknown" }), 2000);
});

Deno.test("a tier that costs less than the one below it does not lower the hold", () => {
  const falling = perMillion({
    ...{ input_price: "10", output_price: "0" },
    tiers: [{ above_input_tokens: 1000, input_price: "1" }],
  });
  const { num, den } = maxPriceOf(falling, { input_tokens: 2000 });
  assert.equal(Number(num * 1_000_000n / den), 10_000); // 1,000 × 10, not 2,000 × 1
});

Deno.test("the hold of a variant is the price of that variant", () => {
  const images = price("per_call", "image", {
    price: "0.04",
    variants: [{ when: { quality: "high" }, price: "0.17" }],
  });
  const high = { images: 2, options: { quality: "high" } };
  assert.deepEqual(maxPriceOf(images, high), priceOf(images, high));
  assert.equal(compare(maxPriceOf(images, high), maxPriceOf(images, { images: 2 })), 1);
});
