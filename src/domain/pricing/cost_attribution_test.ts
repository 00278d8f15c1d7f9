import assert from "node:assert/strict";
import { formatDecimal, roundHalfUp } from "../../lib/money.ts";
import type { Upstream } from "../../platform/config/config.ts";
import { costAttribution } from "./cost_attribution.ts";
import type { Usage } from "../../model_types/usage.ts";

const upstream = (cost: Record<string, string> | null) =>
  ({ provider: "acme", model: "sea-2", cost }) as unknown as Upstream;

function costs(cost: Record<string, string> | null, usage: Usage): string | null {
  const attributed = costAttribution(upstream(cost), usage).cost;
  return attributed === null ? null : formatDecimal(roundHalfUp(attributed, 6));
}

Deno.test("a cost names the upstream, and is unknown where the configuration does not say", () => {
  const seen = costAttribution(upstream(null), { input_tokens: 5 });
  assert.deepEqual(seen, { upstream: "acme/sea-2", cost: null });
});

Deno.test("an upstream's cost is counted in its own unit", () => {
  const tokens = { input_tokens: 1000, output_tokens: 500 };
  assert.equal(
    costs({ unit: "1M tokens", input_price: "0.10", output_price: "0.40" }, tokens),
    "0.0003",
  );
  assert.equal(costs({ unit: "image", price: "0.02" }, { images: 3 }), "0.06");
  assert.equal(costs({ unit: "second", price: "0.03" }, { seconds: 4 }), "0.12");
  assert.equal(costs({ unit: "minute", price: "0.60" }, { seconds: 30 }), "0.30");
});

Deno.test("a price that the configuration leaves out is zero", () => {
  const tokens = { input_tokens: 1000, output_tokens: 1000 };
  assert.equal(costs({ unit: "1K tokens", input_price: "0.5" }, tokens), "0.50");
  assert.equal(costs({ unit: "1K tokens", output_price: "0.7" }, tokens), "0.70");
});

Deno.test("the cost of what was not metered is unknown; an impossible count is an error", () => {
  assert.equal(costs({ unit: "minute", price: "0.60" }, { videos: 1 }), null);
  assert.throws(() => costs({ unit: "image", price: "0.02" }, { images: -1 }), RangeError);
});

Deno.test("an upstream costs the same each time it is asked", () => {
  const one = upstream({ unit: "image", price: "0.02" });
  const first = costAttribution(one, { images: 2 });
  assert.deepEqual(costAttribution(one, { images: 2 }), first);
});
