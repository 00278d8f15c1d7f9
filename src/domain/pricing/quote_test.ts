import assert from "node:assert/strict";
import fc from "fast-check";
import { perMillion, perThousand, price } from "../../../test/helpers/prices.ts";
import { formatDecimal, roundUp } from "../../lib/money.ts";
import { chargeUsage, quoteUsage } from "./quote.ts";
import { definitionOf, MODEL_TYPES } from "../../model_types/model_types.ts";
import { unitsOf, USAGE_KINDS } from "../../model_types/usage.ts";

Deno.test("a quote is the maximum: each token at the most expensive kind it may be", () => {
  const odd = perMillion({
    input_price: "1",
    output_price: "2",
    cached_input_price: "3",
    reasoning_price: "4",
  });
  const model = { id: "m", type: "chat" } as const;
  const { amount, units, kind } = quoteUsage(model, odd, {
    input_tokens: 1000,
    output_tokens: 1000,
  });
  assert.equal(formatDecimal(roundUp(amount, 6)), "0.007"); // 1,000 × 3/1M + 1,000 × 4/1M
  assert.deepEqual([units, kind], [2000n, "text"]);
  assert.equal(quoteUsage(model, odd, {}).amount.num, 0n);
  // Whatever happens then costs no more.
  for (
    const usage of [
      { input_tokens: 1000, output_tokens: 1000 },
      { cached_input_tokens: 1000, reasoning_tokens: 1000 },
      { input_tokens: 500, cached_input_tokens: 500, output_tokens: 500, reasoning_tokens: 500 },
    ]
  ) {
    const actual = chargeUsage({ price: odd, kind }, usage);
    assert.ok(actual.amount.num * amount.den <= amount.num * actual.amount.den);
  }
});

Deno.test("no way to use what a quote bounds costs more than the quote", () => {
  const amount = fc.integer({ min: 0, max: 99 }).map((n) => `0.${String(n).padStart(2, "0")}`);
  const amounts = fc.record(
    {
      input_price: amount,
      output_price: amount,
      cached_input_price: amount,
      reasoning_price: amount,
      minimum_charge: amount,
    },
    { requiredKeys: ["input_price", "output_price"] },
  );
  const count = fc.nat(1_000_000);
  const model = { id: "m", type: "chat" } as const;
  fc.assert(fc.property(amounts, fc.tuple(count, count, count, count), (amounts, counts) => {
    const [input_tokens, cached_input_tokens, output_tokens, reasoning_tokens] = counts;
    const used = { input_tokens, cached_input_tokens, output_tokens, reasoning_tokens };
    const quote = quoteUsage(model, perThousand(amounts), used);
    const { amount, units } = chargeUsage(quote, used);
    assert.ok(amount.num * quote.amount.den <= quote.amount.num * amount.den);
    assert.equal(units, quote.units);
    // And no more is held than if every token were of the kind that costs most.
    const most = quoteUsage(model, perThousand(amounts), {
      input_tokens: input_tokens + cached_input_tokens,
      output_tokens: output_tokens + reasoning_tokens,
    });
    assert.equal(most.amount.num * quote.amount.den, quote.amount.num * most.amount.den);
  }));
});

Deno.test("quotas count tokens of text, images, and started seconds of video", () => {
  const tokens = { input_tokens: 1, cached_input_tokens: 2, output_tokens: 3, reasoning_tokens: 4 };
  assert.equal(unitsOf("text", tokens), 10n);
  assert.equal(unitsOf("image", { images: 4 }), 4n);
  assert.equal(unitsOf("video", { seconds: "5.01" }), 6n);
  assert.equal(unitsOf("video", { seconds: "5.000000000001" }), 6n);
  assert.equal(unitsOf("video", { seconds: 5 }), 5n);
  assert.equal(unitsOf(null, tokens), 0n);
});

Deno.test("each kind of usage is that of a model type", () => {
  const kinds = MODEL_TYPES.map((type) => definitionOf(type).quota).filter((kind) => kind !== null);
  assert.deepEqual([...new Set(kinds)], USAGE_KINDS);
});

Deno.test("speech and dramas use no quota, avatars use that of video", () => {
  const perSecond = price("duration", "second", { price: "0.05" });
  const kinds = (["speech", "drama", "avatar", "video"] as const).map((type) =>
    quoteUsage({ id: "m", type }, perSecond, { seconds: 5 }).kind
  );
  assert.deepEqual(kinds, [null, null, "video", "video"]);
  // Without seconds the quota of a video is unknown.
  const perVideo = price("per_call", "video", { price: "1" });
  assert.equal(quoteUsage({ id: "m", type: "video" }, perVideo, { videos: 1 }).kind, null);
  assert.equal(quoteUsage({ id: "m", type: "video" }, perSecond, { seconds: 1 }).kind, "video");
});
