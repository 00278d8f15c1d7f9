import { parseDecimal } from "../../lib/money.ts";
import {
  TOKEN_AMOUNT_NAMES,
  TOKEN_AMOUNTS,
  type TokenAmount,
} from "../../model_types/price_terms.ts";
import { unitOf } from "../../model_types/units.ts";
import { blockOf, listOf } from "./checker.ts";
import type { Path } from "./issues.ts";

type Keys = Record<string, unknown>;

/** One amount of a price or a cost under some circumstances, per base item. */
export interface WrittenAmount {
  /** An exact fraction: `num / den` for one token, image or second. */
  readonly num: bigint;
  readonly den: bigint;
  /** The key that it is written in, from the price on. */
  readonly path: Path;
}

/** What decides about the amounts of a token price. */
export interface TokenCircumstances {
  readonly inputTokens: number;
  readonly serviceTier: string | null;
}

const ONE = parseDecimal("1")!;

/**
 * Amounts of a price as the file has it, which may be invalid. By name; a name that is missing has no valid
 * amount.
 */
export function tokenAmounts(
  price: Keys,
  { inputTokens, serviceTier }: TokenCircumstances,
): Map<TokenAmount, WrittenAmount> {
  const found = new Map<TokenAmount, WrittenAmount>();
  const size = unitOf(price.unit)?.size;
  if (size === undefined) return found;
  const tier = tierAt(price, inputTokens);
  const service = serviceTier === null ? {} : blockOf(blockOf(price.service_tiers)[serviceTier]);
  const factor = amountOf(service.multiplier) ?? ONE;
  const places: readonly { block: Keys; path: Path }[] = [
    { block: service, path: ["service_tiers", serviceTier ?? ""] },
    { block: tier.block, path: ["tiers", tier.index] },
    { block: price, path: [] },
  ];
  const written = (name: TokenAmount) => places.find(({ block }) => block[name] !== undefined);
  for (const name of TOKEN_AMOUNT_NAMES) {
    const key = written(name) === undefined ? TOKEN_AMOUNTS[name] : name;
    const place = written(key);
    const amount = place === undefined ? null : amountOf(place.block[key]);
    if (amount === null) continue;
    found.set(name, {
      num: amount * factor,
      den: size * ONE * ONE,
      path: [...place!.path, key],
    });
  }
  return found;
}

function tierAt(price: Keys, inputTokens: number): { block: Keys; index: number } {
  let found: { block: Keys; index: number } = { block: {}, index: 0 };
  let highest = -Infinity;
  for (const [index, block] of listOf(price.tiers).map(blockOf).entries()) {
    const { above_input_tokens: above } = block;
    if (typeof above !== "number" || above >= inputTokens || above <= highest) continue;
    highest = above;
    found = { block, index };
  }
  return found;
}

/** All circumstances in which one of these prices has amounts of its own. */
export function circumstancesOf(...prices: readonly Keys[]): TokenCircumstances[] {
  const bounds = prices.flatMap(({ tiers }) =>
    listOf(tiers).map((tier) => blockOf(tier).above_input_tokens)
  );
  const counts = new Set([0, ...bounds.filter((bound) => typeof bound === "number")]);
  const names = new Set(prices.flatMap((price) => Object.keys(blockOf(price.service_tiers))));
  return [...counts].toSorted((a, b) => a - b).flatMap((bound) =>
    [null, ...names].map((serviceTier) => ({ inputTokens: bound + 1, serviceTier }))
  );
}

/** The price of one unit, or of a variant of it. */
export function unitAmount(price: Keys, variant: number | null): WrittenAmount | null {
  const size = unitOf(price.unit)?.size;
  const block = variant === null ? price : blockOf(listOf(price.variants)[variant]);
  const amount = amountOf(block.price);
  if (size === undefined || amount === null) return null;
  return {
    num: amount,
    den: size * ONE,
    path: variant === null ? ["price"] : ["variants", variant, "price"],
  };
}

export function amountOf(value: unknown): bigint | null {
  return typeof value === "string" ? parseDecimal(value) : null;
}
