import { decimal, type Fraction, fraction, SCALE } from "../../lib/money.ts";
import type { AmountName, Price } from "../../platform/config/config.ts";
import { unitOf } from "../../model_types/units.ts";
import { countOf, secondsOf, type Usage } from "../../model_types/usage.ts";

/** What a usage costs, exactly. Nothing used costs nothing; anything used, at least the minimum charge. */
export function priceOf(price: Price, usage: Usage): Fraction {
  const { cost, quantity } = costOf(price, usage);
  const minimum = price.amounts.minimum_charge;
  return quantity === 0n || minimum === undefined ? cost : greater(cost, fraction(minimum));
}

interface Cost {
  cost: Fraction;
  quantity: bigint;
}

function costOf(price: Price, usage: Usage): Cost {
  switch (price.billingType) {
    case "token":
      return tokenCost(price, usage);
    case "per_call":
      return perCallCost(price, usage);
    case "duration":
      return durationCost(price, usage);
  }
}

function tokenCost(price: Price, usage: Usage): Cost {
  const input = amount(price, "input_price");
  const output = amount(price, "output_price");
  const tokens: [count: bigint, price: bigint][] = [
    [countOf(usage, "input_tokens"), input],
    // `??`: a price of zero is a price.
    [countOf(usage, "cached_input_tokens"), optional(price, "cached_input_price") ?? input],
    [countOf(usage, "output_tokens"), output],
    [countOf(usage, "reasoning_tokens"), optional(price, "reasoning_price") ?? output],
  ];
  return {
    cost: { num: tokens.reduce((sum, [n, each]) => sum + n * each, 0n), den: ONE * sizeOf(price) },
    quantity: tokens.reduce((sum, [n]) => sum + n, 0n),
  };
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
  return { cost: { num: quantity * amount(price, "price"), den: ONE * sizeOf(price) }, quantity };
}

function durationCost(price: Price, usage: Usage): Cost {
  if (usage.seconds === undefined) {
    throw new TypeError(`Cannot charge ${price.model} per ${price.unit}: seconds is not metered`);
  }
  const quantity = secondsOf(usage);
  return {
    cost: { num: quantity * amount(price, "price"), den: ONE * ONE * sizeOf(price) },
    quantity,
  };
}

const ONE = 10n ** BigInt(SCALE);

function amount(price: Price, name: AmountName): bigint {
  const value = optional(price, name);
  if (value === undefined) {
    throw new TypeError(`The price of ${price.model} in ${price.book} has no ${name}`);
  }
  return value;
}

/** Amounts as exact numbers, parsed once per price: prices are frozen. */
const EXACT = new WeakMap<Price, Partial<Record<AmountName, bigint>>>();

function optional(price: Price, name: AmountName): bigint | undefined {
  let exact = EXACT.get(price);
  if (exact === undefined) {
    const read = Object.entries(price.amounts).map(([name, text]) => [name, decimal(text)]);
    EXACT.set(price, exact = Object.fromEntries(read) as Partial<Record<AmountName, bigint>>);
  }
  return exact[name];
}

function sizeOf({ unit }: Price): bigint {
  const size = unitOf(unit)?.size;
  if (size === undefined) throw new TypeError(`Unknown unit "${unit}"`);
  return size;
}

export function greater(a: Fraction, b: Fraction): Fraction {
  return a.num * b.den >= b.num * a.den ? a : b;
}
