import type { Fraction } from "../../lib/money.ts";
import { unitOf } from "../../model_types/units.ts";
import type { Price, Upstream, UpstreamCost } from "../../platform/config/config.ts";
import { priceOf } from "./price.ts";
import type { Usage } from "../../model_types/usage.ts";

/** The upstream that answered a request, and what it charges. Not visible to clients. */
export interface CostAttribution {
  /** provider/model, as configured; null where several made it. */
  readonly upstream: string | null;
  /** Null if the configuration does not say what the upstream charges. */
  readonly cost: Fraction | null;
}

export function costAttribution(upstream: Upstream, usage: Usage): CostAttribution {
  return { upstream: `${upstream.provider}/${upstream.model}`, cost: costOf(upstream, usage) };
}

function costOf({ model, cost }: Upstream, usage: Usage): Fraction | null {
  if (cost === null || !isDeclared(cost, usage)) return null;
  const price = costPrice(model, cost);
  try {
    return priceOf(price, usage);
  } catch (error) {
    // Its unit is not what we meter (a cost per minute, say, of a model sold per video): not known.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** What the provider charges extra and the configuration does not say is not known, rather than zero. */
function isDeclared({ service_tiers, fees }: UpstreamCost, usage: Usage): boolean {
  const { service_tier: tier, web_searches: searches = 0 } = usage;
  return (tier === undefined || service_tiers?.[tier] !== undefined) &&
    (searches === 0 || fees?.web_search !== undefined);
}

/** Configurations are frozen, so an upstream's price is read once. */
const PRICES = new WeakMap<UpstreamCost, Price>();

const BILLING: Readonly<Record<string, Price["billingType"]>> = {
  tokens: "token",
  second: "duration",
};

/** What an upstream charges, as a price like any other. */
function costPrice(model: string, cost: UpstreamCost): Price {
  let price = PRICES.get(cost);
  if (price === undefined) {
    const { unit, ...terms } = cost;
    price = {
      book: "cost",
      model,
      billingType: BILLING[unitOf(unit)?.family ?? unit] ?? "per_call",
      unit,
      // A provider that names only one of the two charges nothing for the other.
      terms: { input_price: "0", output_price: "0", ...terms },
      effectiveAt: 0,
    };
    PRICES.set(cost, price);
  }
  return price;
}
