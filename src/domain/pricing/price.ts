import type { Fraction } from "../../lib/money.ts";
import type { Price } from "../../platform/config/config.ts";
import { unitOf } from "../../model_types/units.ts";
import {
  countOf,
  INPUT_BUCKETS,
  OUTPUT_BUCKETS,
  secondsOf,
  type Usage,
} from "../../model_types/usage.ts";
import {
  cardOf,
  needOutputPrice,
  ONE,
  type RateCard,
  type RateTier,
  type TokenRates,
  unitPrice,
} from "./rate_card.ts";

/** What a usage costs, exactly. Nothing used costs nothing; anything used, at least the minimum charge. */
export function priceOf(price: Price, usage: Usage): Fraction {
  const { cost, quantity } = costOf(price, usage);
  return quantity === 0n ? cost : atLeast(price, cost);
}

/** An amount, or the minimum charge of the price. */
export function atLeast(price: Price, amount: Fraction): Fraction {
  const { minimum } = cardOf(price);
  return minimum === null ? amount : greater(amount, minimum);
}

interface Cost {
  cost: Fraction;
  quantity: bigint;
}

function costOf(price: Price, usage: Usage): Cost {
  switch (price.billingType) {
    case "token":
      needOutputPrice(price, usage);
      return tokenCost(cardOf(price), usage);
    case "per_call":
      return perCallCost(price, usage);
    case "duration":
      return durationCost(price, usage);
  }
}

function tokenCost(card: RateCard, usage: Usage): Cost {
  const { input, output } = ratesFor(card, usage);
  let num = 0n;
  let quantity = 0n;
  const add = (count: bigint, rate: bigint) => {
    num += count * rate;
    quantity += count;
  };
  for (let at = 0; at < input.length; at++) add(countOf(usage, INPUT_BUCKETS[at]!), input[at]!);
  for (let at = 0; at < output.length; at++) add(countOf(usage, OUTPUT_BUCKETS[at]!), output[at]!);
  add(countOf(usage, "web_searches"), card.webSearch);
  return { cost: { num, den: card.den }, quantity };
}

/** The rates of a request: by all of its input tokens, and by the tier that served it. */
function ratesFor({ tiers }: RateCard, usage: Usage): TokenRates {
  const { base, service } = tierOf(tiers, usage);
  return usage.service_tier === undefined ? base : service.get(usage.service_tier) ?? base;
}

function tierOf(tiers: readonly RateTier[], usage: Usage): RateTier {
  if (tiers.length === 1) return tiers[0]!;
  let tokens = 0;
  for (const bucket of INPUT_BUCKETS) tokens += usage[bucket] ?? 0;
  return tiers.findLast(({ above }) => tokens > above) ?? tiers[0]!;
}

function perCallCost(price: Price, usage: Usage): Cost {
  const name = unitOf(price.unit)?.counts ?? null;
  // Not zero by default: a request whose meter did not count must not be free.
  if (name === null || usage[name] === undefined) {
    throw new TypeError(
      `Cannot charge ${price.model} per ${price.unit}: ${name ?? price.unit} is not metered`,
    );
  }
  const quantity = countOf(usage, name);
  const each = unitPrice(price, usage.options);
  return { cost: { num: quantity * each, den: cardOf(price).den }, quantity };
}

function durationCost(price: Price, usage: Usage): Cost {
  if (usage.seconds === undefined) {
    throw new TypeError(`Cannot charge ${price.model} per ${price.unit}: seconds is not metered`);
  }
  const quantity = secondsOf(usage);
  const each = unitPrice(price, usage.options);
  return { cost: { num: quantity * each, den: ONE * cardOf(price).den }, quantity };
}

export function greater(a: Fraction, b: Fraction): Fraction {
  return a.num * b.den >= b.num * a.den ? a : b;
}
