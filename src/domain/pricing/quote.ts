import type { Fraction } from "../../lib/money.ts";
import { definitionOf, type ModelType } from "../../model_types/model_types.ts";
import type { Price } from "../../platform/config/config.ts";
import type { CostAttribution } from "./cost_attribution.ts";
import { maxPriceOf, type Possible } from "./max_price.ts";
import { priceOf } from "./price.ts";
import { unitsOf, type Usage, type UsageKind } from "../../model_types/usage.ts";

/** A part of a price that the quota of a kind may pay. */
export interface QuotaShare {
  readonly kind: UsageKind;
  readonly units: bigint;
  readonly amount: Fraction;
}

/** The maximum price of a request, which is held before it runs. */
export interface Quote {
  readonly model: string;
  /** The quota that pays first; null if money pays for all of it. */
  readonly kind: UsageKind | null;
  readonly amount: Fraction;
  readonly units: bigint;
  /** Instead of `kind` and `units`, where quotas of several kinds may pay: one for each kind. */
  readonly shares?: readonly QuotaShare[] | undefined;
  /** The price when the request was accepted; its settlement uses the same. */
  readonly price: Price;
}

/** The actual price of a request. */
export interface Charge {
  readonly amount: Fraction;
  readonly units: bigint;
  /** As of the quote. */
  readonly shares?: readonly QuotaShare[] | undefined;
  readonly usage: Usage;
  /** The upstream that answered, for the operator's margins; unset if none did. */
  readonly served?: CostAttribution | undefined;
}

/** The quote for a request with this maximum usage. */
export function quoteUsage(
  model: { id: string; type: ModelType },
  price: Price,
  maxUsage: Usage,
  possible?: Possible,
): Quote {
  const { quota } = definitionOf(model.type);
  const units = unitsOf(quota, maxUsage);
  return {
    model: model.id,
    // Without a quantity a quota cannot tell which part of the request it covers.
    kind: units > 0n ? quota : null,
    amount: maxPriceOf(price, maxUsage, possible),
    units,
    price,
  };
}

/** What a usage costs under a quote. */
export function chargeUsage(
  { price, kind }: Pick<Quote, "price" | "kind">,
  usage: Usage,
  served?: CostAttribution,
): Charge {
  return { amount: priceOf(price, usage), units: unitsOf(kind, usage), usage, served };
}
