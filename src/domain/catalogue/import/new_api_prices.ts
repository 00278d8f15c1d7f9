import { decimal, formatDecimal, fraction, roundHalfUp } from "../../../lib/money.ts";
import type { PriceEntry } from "../../../platform/config/gateway_file.ts";
import type { CatalogueCost } from "../catalogue.ts";
import { timesFactor } from "../decimals.ts";
import { mapAmounts } from "../map_terms.ts";
import { type NewApiDump, type NewApiPricing, readRatios } from "./new_api_dump.ts";

export type ImportedPrice = Omit<PriceEntry, "model">;

/** Factors of a model's price, as new-api has them. */
interface Ratios {
  readonly input: number;
  /** Null: new-api has one built in, which its database does not know. */
  readonly completion: number | null;
  readonly cached: number | undefined;
  readonly cacheWrite: number | undefined;
  readonly audio: number | undefined;
  readonly audioCompletion: number | undefined;
}

/** 500,000 units of quota are a dollar unless an option says otherwise. */
const QUOTA_PER_UNIT = 500_000;
const QUOTA_PER_UNIT_MAX = 1e12;
/** What new-api shows for a model that has no price. */
const UNPRICED_RATIO = 37.5;
/** Decimals of a converted price: factors such as 1/7.3 do not end. */
const DECIMALS = 9;

const OPTIONS = [
  ...["ModelRatio", "CompletionRatio", "ModelPrice", "CacheRatio", "CreateCacheRatio"],
  ...["AudioRatio", "AudioCompletionRatio", "GroupRatio"],
] as const;

/** Prices of models and factors of groups, by the options and the price page of new-api. */
export class NewApiPrices {
  readonly #options: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly #pricing: ReadonlyMap<string, NewApiPricing>;
  readonly #groups: ReadonlyMap<string, number>;
  readonly #quotaPerUnit: number;

  constructor(file: string, { options, pricing }: NewApiDump) {
    this.#options = new Map(OPTIONS.map((name) => [name, readRatios(file, options, name)]));
    this.#pricing = new Map(pricing?.data.map((each) => [each.model_name, each]));
    const stored = this.#options.get("GroupRatio")!;
    this.#groups = stored.size > 0 ? stored : new Map(Object.entries(pricing?.group_ratio ?? {}));
    const perUnit = Number(options.QuotaPerUnit ?? QUOTA_PER_UNIT);
    this.#quotaPerUnit = perUnit >= 1 && perUnit <= QUOTA_PER_UNIT_MAX ? perUnit : QUOTA_PER_UNIT;
  }

  /** A quota of a user or a token in dollars. */
  balanceOf(quota: number): string {
    const num = BigInt(Math.trunc(quota)) * decimal("1");
    return formatDecimal(roundHalfUp({ num, den: decimal(text(this.#quotaPerUnit)) }, 6));
  }

  /** The factor of a group; 1 where none is stored, or none that a price can have. */
  groupFactor(group: string): number {
    const stored = this.#groups.get(group) ?? 1;
    return isFactor(stored) ? stored : 1;
  }

  pricingOf(model: string): NewApiPricing | undefined {
    return this.#pricing.get(model);
  }

  /**
   * The price of a model for a group with factor 1; or the reason why there is none. `listed` is its cost in a price
   * list, for what new-api has only in its own code.
   */
  priceOf(
    model: string,
    { type, listed }: { type: "chat" | "embedding"; listed: CatalogueCost | null },
  ): { price: ImportedPrice; source: string } | string {
    const pricing = this.#pricing.get(model);
    if (pricing?.billing_mode === "tiered_expr") return "its price is an expression";
    const perCall = pricing?.quota_type === 1 ? pricing.model_price : this.#of("ModelPrice", model);
    if (perCall !== undefined && isFactor(perCall)) {
      if (type === "embedding") return "it is sold by the call, which embeddings are not";
      return {
        price: { billing_type: "per_call", price: amount(perCall), unit: "call" },
        source: "the call",
      };
    }
    const ratios = this.#ratiosOf(model, pricing);
    if (ratios === null) {
      if (listed === null) return "no price: neither the dump nor --prices has one for it";
      return {
        price: { billing_type: "token", ...listed } as ImportedPrice,
        source: "the price list",
      };
    }
    const completion = ratios.completion ?? factorOf(listed);
    if (completion === null && type === "chat") {
      return "no price of its output: add the answer of /api/pricing to the dump, or give --prices";
    }
    return {
      price: this.#tokenPrice(ratios, type === "chat" ? completion : null),
      source: ratios.completion === null && type === "chat"
        ? "its ratio, output by the price list"
        : "its ratio",
    };
  }

  #of(option: (typeof OPTIONS)[number], model: string): number | undefined {
    return this.#options.get(option)!.get(model);
  }

  #ratiosOf(model: string, pricing: NewApiPricing | undefined): Ratios | null {
    const stored = this.#of("ModelRatio", model);
    const shown = pricing?.quota_type === 0 ? pricing : undefined;
    const isUnpriced = stored === undefined && shown?.model_ratio === UNPRICED_RATIO;
    const input = isUnpriced ? undefined : shown?.model_ratio ?? stored;
    if (input === undefined || !isFactor(input)) return null;
    const completion = shown?.completion_ratio ?? this.#of("CompletionRatio", model) ?? -1;
    return {
      input,
      completion: isFactor(completion) ? completion : null,
      cached: shown?.cache_ratio ?? this.#of("CacheRatio", model),
      cacheWrite: shown?.create_cache_ratio ?? this.#of("CreateCacheRatio", model),
      audio: shown?.audio_ratio ?? this.#of("AudioRatio", model),
      audioCompletion: shown?.audio_completion_ratio ?? this.#of("AudioCompletionRatio", model),
    };
  }

  /** A ratio of 1 is $2 for a million tokens; the others are factors of it. */
  #tokenPrice(ratios: Ratios, completion: number | null): ImportedPrice {
    const { input, cached, cacheWrite, audio, audioCompletion } = ratios;
    const perMillion = 1_000_000 / this.#quotaPerUnit;
    const of = (name: string, ...factors: (number | null | undefined)[]) =>
      factors.every((factor) => factor !== undefined && factor !== null && isFactor(factor))
        ? { [name]: amount(input, perMillion, ...factors as number[]) }
        : {};
    return {
      billing_type: "token",
      ...of("input_price"),
      ...of("output_price", completion),
      ...of("cached_input_price", cached),
      ...of("cache_write_price", cacheWrite),
      ...of("audio_input_price", audio),
      ...of("audio_output_price", audio, audioCompletion),
      unit: "1M tokens",
    } as ImportedPrice;
  }
}

/** A price with every amount times a factor. */
export function scaledPrice(price: ImportedPrice, factor: number): ImportedPrice {
  const { billing_type, ...terms } = price;
  const scaled = mapAmounts(terms, (each) => timesFactor(each, text(factor)));
  return { billing_type, ...scaled };
}

/** No model, group or call costs a thousand times as much: such a number is a mistake, and amounts have twenty digits. */
const FACTOR_MAX = 1000;

function isFactor(value: number): boolean {
  return value >= 0 && value < FACTOR_MAX;
}

function text(value: number): string {
  return value.toFixed(12);
}

/** A product as an amount of money, rounded to the decimals that a converted price has. */
function amount(...factors: readonly number[]): string {
  const product = factors.map((factor) => fraction(text(factor)))
    .reduce((a, b) => ({ num: a.num * b.num, den: a.den * b.den }));
  return formatDecimal(roundHalfUp(product, DECIMALS));
}

/** How much dearer output is than input, in a price list. */
function factorOf(cost: CatalogueCost | null): number | null {
  const [input, output] = [Number(cost?.input_price ?? 0), Number(cost?.output_price ?? 0)];
  return input > 0 && output > 0 ? output / input : null;
}
