import assert from "node:assert/strict";
import { perMillion, perThousand, price } from "../../../test/helpers/prices.ts";
import { formatDecimal, type Fraction, roundHalfUp } from "../../lib/money.ts";
import { type Price } from "../../platform/config/config.ts";
import { priceOf } from "./price.ts";
import { priceFrom, snapshotOf } from "./snapshot.ts";
import { type Usage } from "../../model_types/usage.ts";

const CLAUDE = perMillion({
  ...{ input_price: "3", output_price: "15", cached_input_price: "0.30" },
  ...{ cache_write_price: "3.75", cache_write_1h_price: "6" },
  tiers: [{
    ...{ above_input_tokens: 200_000, input_price: "6", output_price: "22.50" },
    ...{ cached_input_price: "0.60", cache_write_price: "7.50", cache_write_1h_price: "12" },
  }],
});
const GPT = perMillion({
  ...{ input_price: "1.25", output_price: "10", cached_input_price: "0.125" },
  tiers: [{ above_input_tokens: 200_000, input_price: "2.50", output_price: "15" }],
  service_tiers: {
    priority: { multiplier: "2" },
    flex: { input_price: "0.625", output_price: "5" },
  },
  fees: { web_search: "0.01" },
});
const IMAGES = price("per_call", "image", {
  price: "0.042",
  variants: [
    { when: { quality: "high" }, price: "0.167" },
    { when: { quality: "low", size: ["1024x1024", "1024x1536"] }, price: "0.011" },
  ],
});

/** Worked out by hand: what is priced, what was used, and what it costs at six decimals. */
const CASES: [name: string, Price, Usage, cost: string][] = [
  // 1,000 × 0.15/1M + 500 × 0.60/1M = 0.00015 + 0.0003
  [
    "tokens per million",
    perMillion({ input_price: "0.15", output_price: "0.60" }),
    { input_tokens: 1000, output_tokens: 500 },
    "0.00045",
  ],
  // 7 × 0.003/1K + 3 × 0.015/1K = 0.000021 + 0.000045
  [
    "tokens per thousand",
    perThousand({ input_price: "0.003", output_price: "0.015" }),
    { input_tokens: 7, output_tokens: 3 },
    "0.000066",
  ],
  // 400 × 0.15/1M + 600 × 0.075/1M = 0.00006 + 0.000045
  [
    "cached input tokens have their own price and are not counted as input too",
    perMillion({ input_price: "0.15", output_price: "0.60", cached_input_price: "0.075" }),
    { input_tokens: 400, cached_input_tokens: 600 },
    "0.000105",
  ],
  // Without one of their own, as input: 1,000 × 0.15/1M
  [
    "cached input tokens without a price of their own cost what input does",
    perMillion({ input_price: "0.15", output_price: "0.60" }),
    { input_tokens: 400, cached_input_tokens: 600 },
    "0.00015",
  ],
  // An explicit zero is a price: only the 400 are paid.
  [
    "cached input tokens at an explicit zero are free",
    perMillion({ input_price: "0.15", output_price: "0.60", cached_input_price: "0" }),
    { input_tokens: 400, cached_input_tokens: 600 },
    "0.00006",
  ],
  // 100 × 0.60/1M + 900 × 1.20/1M = 0.00006 + 0.00108
  [
    "reasoning tokens have their own price",
    perMillion({ input_price: "0.15", output_price: "0.60", reasoning_price: "1.20" }),
    { output_tokens: 100, reasoning_tokens: 900 },
    "0.00114",
  ],
  [
    "reasoning tokens without a price of their own cost what output does",
    perMillion({ input_price: "0.15", output_price: "0.60" }),
    { output_tokens: 100, reasoning_tokens: 900 },
    "0.0006",
  ],
  // 1 × 0.15/1M = 0.00000015: a fifteenth of the smallest amount at six decimals.
  [
    "a single cheap token rounds to nothing",
    perMillion({ input_price: "0.15", output_price: "0.60" }),
    { input_tokens: 1 },
    "0.00",
  ],
  // 10 × 0.05/1M = 0.0000005: exactly half.
  [
    "half of the smallest amount rounds up",
    perMillion({ input_price: "0.05", output_price: "0" }),
    { input_tokens: 10 },
    "0.000001",
  ],
  [
    "nothing used costs nothing, whatever the minimum charge",
    perMillion({ input_price: "1", output_price: "1", minimum_charge: "0.01" }),
    { input_tokens: 0, output_tokens: 0 },
    "0.00",
  ],
  [
    "a minimum charge applies to whatever costs less",
    perMillion({ input_price: "1", output_price: "1", minimum_charge: "0.01" }),
    { input_tokens: 1 },
    "0.01",
  ],
  [
    "a minimum charge applies to what is used for free",
    perMillion({ input_price: "0", output_price: "0", minimum_charge: "0.01" }),
    { output_tokens: 5 },
    "0.01",
  ],
  // 1,000 × 3.75/1M + 2,000 × 6/1M + 3,000 × 0.30/1M + 4,000 × 3/1M
  [
    "tokens written to a cache have prices of their own",
    CLAUDE,
    {
      cache_write_tokens: 1000,
      cache_write_1h_tokens: 2000,
      cached_input_tokens: 3000,
      input_tokens: 4000,
    },
    "0.02865",
  ],
  // 10 × 32/1M + 20 × 64/1M + 30 × 4/1M + 40 × 16/1M
  [
    "audio tokens have prices of their own",
    perMillion({
      ...{ input_price: "4", output_price: "16" },
      ...{ audio_input_price: "32", audio_output_price: "64" },
    }),
    { audio_input_tokens: 10, audio_output_tokens: 20, input_tokens: 30, output_tokens: 40 },
    "0.00236",
  ],
  // 300,000 × 6/1M + 1,000 × 22.50/1M: the tier holds for every token.
  [
    "a tier holds for every token",
    CLAUDE,
    { input_tokens: 300_000, output_tokens: 1000 },
    "1.8225",
  ],
  // 200,000 × 3/1M: above means above.
  ["a tier begins above its bound", CLAUDE, { input_tokens: 200_000 }, "0.60"],
  // 1 × 6/1M + 150,000 × 0.60/1M + 50,000 × 7.50/1M
  [
    "cached and written tokens count towards a tier",
    CLAUDE,
    { input_tokens: 1, cached_input_tokens: 150_000, cache_write_tokens: 50_000 },
    "0.465006",
  ],
  // 2 × (1,000 × 1.25/1M + 100 × 10/1M)
  [
    "a multiplier applies to every amount",
    GPT,
    { input_tokens: 1000, output_tokens: 100, service_tier: "priority" },
    "0.0045",
  ],
  // 2 × (300,000 × 2.50/1M)
  [
    "a multiplier applies to the tier in force",
    GPT,
    { input_tokens: 300_000, service_tier: "priority" },
    "1.50",
  ],
  // 1,000 × 0.625/1M + 1,000 × 0.125/1M
  [
    "amounts of a service tier replace those of the entry, the others stay",
    GPT,
    { input_tokens: 1000, cached_input_tokens: 1000, service_tier: "flex" },
    "0.00075",
  ],
  [
    "a service tier without a price costs what the base does",
    GPT,
    { input_tokens: 1000, service_tier: "scale" },
    "0.00125",
  ],
  // 3 × 0.01 + 1,000 × 1.25/1M
  ["searches have a fee", GPT, { input_tokens: 1000, web_searches: 3 }, "0.03125"],
  [
    "searches have a fee that no multiplier changes",
    GPT,
    { web_searches: 3, service_tier: "priority" },
    "0.03",
  ],
  ["images", price("per_call", "image", { price: "0.04" }), { images: 3 }, "0.12"],
  [
    "the first variant whose conditions all hold",
    IMAGES,
    { images: 2, options: { quality: "high", size: "1024x1024" } },
    "0.334",
  ],
  [
    "a condition may list values",
    IMAGES,
    { images: 1, options: { quality: "low", size: "1024x1536" } },
    "0.011",
  ],
  [
    "without a variant that holds, the price of the entry",
    IMAGES,
    { images: 1, options: { quality: "low", size: "256x256" } },
    "0.042",
  ],
  ["without options, the price of the entry", IMAGES, { images: 1 }, "0.042"],
  [
    "seconds of a resolution",
    price("duration", "second", {
      price: "0.05",
      variants: [{ when: { resolution: "1080p", audio: true }, price: "0.15" }],
    }),
    { seconds: 5, options: { resolution: "1080p", audio: true } },
    "0.75",
  ],
  ["calls", price("per_call", "call", { price: "0.002" }), { calls: 1 }, "0.002"],
  ["videos", price("per_call", "video", { price: "1.5" }), { videos: 2 }, "3.00"],
  ["episodes", price("per_call", "episode", { price: "1.00" }), { episodes: 1 }, "1.00"],
  [
    "shots, above their minimum",
    price("per_call", "shot", { price: "0.50", minimum_charge: "0.50" }),
    { shots: 12 },
    "6.00",
  ],
  // 1,234 × 0.015/1K = 0.01851: no thousand is rounded up.
  ["characters per thousand", price("per_call", "1K characters", { price: "0.015" }), {
    characters: 1234,
  }, "0.01851"],
  // 1,234,567 × 9/1M = 11.111103
  ["characters per million", price("per_call", "1M characters", { price: "9" }), {
    characters: 1_234_567,
  }, "11.111103"],
  ["whole seconds", price("duration", "second", { price: "0.05" }), { seconds: 10 }, "0.50"],
  // 5.25 × 0.05
  [
    "parts of a second",
    price("duration", "second", { price: "0.05" }),
    { seconds: "5.25" },
    "0.2625",
  ],
  [
    "seconds below the minimum charge",
    price("duration", "second", { price: "0.05", minimum_charge: "0.25" }),
    { seconds: 3 },
    "0.25",
  ],
  [
    "seconds above the minimum charge",
    price("duration", "second", { price: "0.05", minimum_charge: "0.25" }),
    { seconds: 6 },
    "0.30",
  ],
  // 90 × 0.10/60
  ["minutes", price("duration", "minute", { price: "0.10" }), { seconds: 90 }, "0.15"],
  // 1 × 0.10/60 = 0.001666…
  [
    "a second of a price per minute",
    price("duration", "minute", { price: "0.10" }),
    { seconds: 1 },
    "0.001667",
  ],
  [
    "an explicit price of zero",
    price("per_call", "image", { price: "0" }),
    { images: 5 },
    "0.00",
  ],
  // 9,007,199,254,740,991 × 999.999999999999/1K, which is 9007199254740.991 × (1000 − 10⁻¹²)
  // = 9007199254740991 − 9.007199254740991: beyond what a float can hold.
  [
    "the largest count at an awkward price",
    perThousand({ input_price: "999.999999999999", output_price: "0" }),
    { input_tokens: Number.MAX_SAFE_INTEGER },
    "9007199254740981.992801",
  ],
];

Deno.test("prices equal the amounts calculated by hand", async (t) => {
  for (const [name, price, usage, cost] of CASES) {
    await t.step(
      name,
      () => assert.equal(formatDecimal(roundHalfUp(priceOf(price, usage), 6)), cost),
    );
  }
});

Deno.test("three thirds of a cent are a cent: nothing is rounded before the end", () => {
  const perMinute = price("duration", "minute", { price: "0.10" });
  const third: Fraction = priceOf(perMinute, { seconds: 2 }); // 0.00333…
  assert.equal(formatDecimal(roundHalfUp({ num: third.num * 3n, den: third.den }, 12)), "0.01");
});

Deno.test("a price restored from its snapshot is the same price", () => {
  const kept = perMillion({ ...GPT.terms, minimum_charge: "0" });
  assert.deepEqual(priceFrom(JSON.parse(JSON.stringify(snapshotOf(kept)))), kept);
  assert.equal(snapshotOf(kept), snapshotOf(kept), "one snapshot serves all requests");
});
