/** Amounts of a price per token, each with the amount that applies where it is left out. */
export const TOKEN_AMOUNTS = {
  input_price: "input_price",
  output_price: "output_price",
  cached_input_price: "input_price",
  cache_write_price: "input_price",
  cache_write_1h_price: "input_price",
  reasoning_price: "output_price",
  audio_input_price: "input_price",
  audio_output_price: "output_price",
} as const;

export type TokenAmount = keyof typeof TOKEN_AMOUNTS;
export const TOKEN_AMOUNT_NAMES = Object.keys(TOKEN_AMOUNTS) as readonly TokenAmount[];

/** Exact decimal strings. */
export type TokenAmounts = Readonly<Partial<Record<TokenAmount, string>>>;

/**
 * What is charged, named as in the configuration file, because clients see it: amounts, and what changes them.
 * The costs of upstreams have the same shape.
 */
export interface PriceTerms extends TokenAmounts {
  /** Of one unit that is not tokens. */
  readonly price?: string;
  readonly minimum_charge?: string;
  /** Lowest first. */
  readonly tiers?: readonly ContextTier[];
  readonly service_tiers?: Readonly<Record<string, ServiceTier>>;
  readonly fees?: { readonly web_search?: string };
  readonly variants?: readonly PriceVariant[];
}

/** Amounts of requests with more input tokens than a number. */
export interface ContextTier extends TokenAmounts {
  readonly above_input_tokens: number;
}

/** A factor for all amounts in force, or amounts. */
export interface ServiceTier extends TokenAmounts {
  readonly multiplier?: string;
}

/** A price of requests with some options; the first one that matches applies. */
export interface PriceVariant {
  readonly when: VariantConditions;
  readonly price: string;
}

export type VariantConditions = Readonly<
  Partial<Record<VariantOption, OptionValue | readonly OptionValue[]>>
>;

export type OptionValue = string | number | boolean;

/** Fields of requests that a price may depend on. */
export const VARIANT_OPTIONS = [
  "size",
  "quality",
  "resolution",
  "audio",
  "aspect_ratio",
  "duration",
  "voice",
  "response_format",
] as const;

export type VariantOption = (typeof VARIANT_OPTIONS)[number];

export type RequestOptions = Readonly<Partial<Record<VariantOption, OptionValue>>>;

const TERMS = [
  ...["price", ...TOKEN_AMOUNT_NAMES, "minimum_charge"],
  ...["tiers", "service_tiers", "fees", "variants"],
] as const;

/** The terms among the keys of an entry, with the tiers in their order. */
export function termsOf(entry: PriceTerms): PriceTerms {
  const terms = Object.fromEntries(
    TERMS.flatMap((name) => {
      const value = (entry as Readonly<Record<string, unknown>>)[name];
      return value === undefined ? [] : [[name, value]];
    }),
  ) as { -readonly [Name in keyof PriceTerms]: PriceTerms[Name] };
  if (terms.tiers !== undefined) {
    terms.tiers = terms.tiers.toSorted((a, b) => a.above_input_tokens - b.above_input_tokens);
  }
  return terms;
}

/** The options of a request that a price may depend on. */
export function optionsOf(parameters: Readonly<Record<string, OptionValue>>): RequestOptions {
  return Object.fromEntries(
    VARIANT_OPTIONS.flatMap((name) =>
      parameters[name] === undefined ? [] : [[name, parameters[name]]]
    ),
  );
}

/** The first variant that a request with these options meets; undefined: the price of the entry applies. */
export function findVariant(
  { variants }: PriceTerms,
  options: RequestOptions,
): PriceVariant | undefined {
  return variants?.find(({ when }) =>
    Object.entries(when).every(([name, wanted]) => {
      const value = options[name as VariantOption];
      return value !== undefined && [wanted].flat().includes(value);
    })
  );
}
