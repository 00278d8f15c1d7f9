import { decimal, type Fraction, fraction, SCALE } from "../../lib/money.ts";
import {
  type ContextTier,
  findVariant,
  type PriceTerms,
  type RequestOptions,
  TOKEN_AMOUNTS,
  type TokenAmount,
} from "../../model_types/price_terms.ts";
import { unitOf } from "../../model_types/units.ts";
import { INPUT_BUCKETS, OUTPUT_BUCKETS, type Usage } from "../../model_types/usage.ts";
import type { Price } from "../../platform/config/config.ts";

/** A price as exact numbers, read once: prices are frozen, and every request uses one. */
export interface RateCard {
  readonly minimum: Fraction | null;
  /** Rates are divided by it. */
  readonly den: bigint;
  /** For tokens, lowest first; the first one has no lower bound. */
  readonly tiers: readonly RateTier[];
  /** Of one web search. */
  readonly webSearch: bigint;
}

/** Rates of requests with more input tokens than `above`. */
export interface RateTier {
  readonly above: number;
  readonly base: TokenRates;
  readonly service: ReadonlyMap<string, TokenRates>;
}

/** In the order of the buckets of usage. */
export interface TokenRates {
  readonly input: readonly bigint[];
  readonly output: readonly bigint[];
}

const AMOUNT_OF = {
  input_tokens: "input_price",
  cached_input_tokens: "cached_input_price",
  cache_write_tokens: "cache_write_price",
  cache_write_1h_tokens: "cache_write_1h_price",
  audio_input_tokens: "audio_input_price",
  output_tokens: "output_price",
  reasoning_tokens: "reasoning_price",
  audio_output_tokens: "audio_output_price",
} as const satisfies Record<string, TokenAmount>;

export const ONE = 10n ** BigInt(SCALE);
const CARDS = new WeakMap<Price, RateCard>();

export function cardOf(price: Price): RateCard {
  let card = CARDS.get(price);
  if (card === undefined) CARDS.set(price, card = readCard(price));
  return card;
}

function readCard(price: Price): RateCard {
  const { terms } = price;
  const size = sizeOf(price);
  // A multiplier has decimals of its own, so all rates get as many more.
  const scale = Object.values(terms.service_tiers ?? {}).some(({ multiplier }) => multiplier)
    ? ONE
    : 1n;
  return {
    minimum: terms.minimum_charge === undefined ? null : fraction(terms.minimum_charge),
    den: ONE * size * scale,
    tiers: price.billingType === "token" ? readTiers(price, scale) : [],
    webSearch: decimal(terms.fees?.web_search ?? "0") * size * scale,
  };
}

function readTiers(price: Price, scale: bigint): RateTier[] {
  const { tiers = [] } = price.terms;
  // A request without input tokens is in the first tier too.
  const all: readonly ContextTier[] = [{ above_input_tokens: -1 }, ...tiers];
  return all.map(({ above_input_tokens: above, ...own }) => {
    const inForce = { ...price.terms, ...own };
    const service = Object.entries(price.terms.service_tiers ?? {}).map(
      ([name, { multiplier, ...amounts }]) =>
        [
          name,
          ratesOf(
            price,
            { ...inForce, ...amounts },
            multiplier === undefined ? scale : decimal(multiplier),
          ),
        ] as const,
    );
    return { above, base: ratesOf(price, inForce, scale), service: new Map(service) };
  });
}

function ratesOf(price: Price, given: PriceTerms, factor: bigint): TokenRates {
  // See `needOutputPrice`.
  const terms = { output_price: "0", ...given };
  const rate = (name: TokenAmount) =>
    decimal(terms[name] ?? amountText(price, terms, TOKEN_AMOUNTS[name])) * factor;
  return {
    input: INPUT_BUCKETS.map((bucket) => rate(AMOUNT_OF[bucket])),
    output: OUTPUT_BUCKETS.map((bucket) => rate(AMOUNT_OF[bucket])),
  };
}

/** A price without an amount for output is one of models that have no output: output must not be free. */
export function needOutputPrice(price: Price, usage: Usage): void {
  if (price.terms.output_price !== undefined) return;
  for (const bucket of OUTPUT_BUCKETS) {
    if ((usage[bucket] ?? 0) > 0) amountText(price, price.terms, "output_price");
  }
}

/** The price of one unit of a request with these options. */
export function unitPrice(price: Price, options: RequestOptions = {}): bigint {
  const variant = findVariant(price.terms, options);
  return decimal(variant?.price ?? amountText(price, price.terms, "price"));
}

function amountText(price: Price, terms: PriceTerms, name: TokenAmount | "price"): string {
  const text = terms[name];
  if (text !== undefined) return text;
  throw new TypeError(`The price of ${price.model} in ${price.book} has no ${name}`);
}

function sizeOf({ unit }: Price): bigint {
  const size = unitOf(unit)?.size;
  if (size === undefined) throw new TypeError(`Unknown unit "${unit}"`);
  return size;
}
