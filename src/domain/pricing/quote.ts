import type { Fraction } from "../../lib/money.ts";
import { definitionOf, type ModelType } from "../../model_types/model_types.ts";
import type { Price } from "../../platform/config/config.ts";
import type { CostAttribution } from "./cost_attribution.ts";
import { greater, priceOf } from "./price.ts";
import { unitsOf, type Usage, type UsageKind } from "../../model_types/usage.ts";

/** The maximum price of a request, which is held before it runs. */
export interface Quote {
  readonly model: string;
  /** The quota that pays first; null if money pays for all of it. */
  readonly kind: UsageKind | null;
  readonly amount: Fraction;
  readonly units: bigint;
  /** The price when the request was accepted; its settlement uses the same. */
  readonly price: Price;
}

/** The actual price of a request. */
export interface Charge {
  readonly amount: Fraction;
  readonly units: bigint;
  readonly usage: Usage;
  /** The upstream that answered, for the operator's margins; unset if none did. */
  readonly served?: CostAttribution | undefined;
}

/** The quote for a request with this maximum usage. */
export function quoteUsage(
  model: { id: string; type: ModelType },
  price: Price,
  maxUsage: Usage,
): Quote {
  const { quota } = definitionOf(model.type);
  const units = unitsOf(quota, maxUsage);
  return {
    model: model.id,
    // Without a quantity a quota cannot tell which part of the request it covers.
    kind: units > 0n ? quota : null,
    amount: price.billingType === "token"
      ? maxTokenPrice(price, maxUsage)
      : priceOf(price, maxUsage),
    units,
    price,
  };
}

/** It is not known in advance which tokens are cached or used for reasoning: the more expensive kind counts. */
function maxTokenPrice(price: Price, maxUsage: Usage): Fraction {
  const { input_tokens = 0, cached_input_tokens = 0, output_tokens = 0, reasoning_tokens = 0 } =
    maxUsage;
  const input = input_tokens + cached_input_tokens;
  const output = output_tokens + reasoning_tokens;
  const { cached_input_price, reasoning_price } = price.amounts;
  const inputs = cached_input_price === undefined
    ? [{ input_tokens: input }]
    : [{ input_tokens: input }, { cached_input_tokens: input }];
  const outputs = reasoning_price === undefined
    ? [{ output_tokens: output }]
    : [{ output_tokens: output }, { reasoning_tokens: output }];
  return inputs.flatMap((one) => outputs.map((other) => priceOf(price, { ...one, ...other })))
    .reduce(greater);
}

/** What a usage costs under a quote. */
export function chargeUsage(
  { price, kind }: Pick<Quote, "price" | "kind">,
  usage: Usage,
  served?: CostAttribution,
): Charge {
  return { amount: priceOf(price, usage), units: unitsOf(kind, usage), usage, served };
}
