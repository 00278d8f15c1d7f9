import type { PricedAccount } from "../../domain/pricing/find_price.ts";
import { priceFor } from "../../domain/pricing/find_price.ts";
import type { Config, Model, Price } from "../../platform/config/config.ts";
import { decimal } from "../../lib/money.ts";
import type {
  TokenAmount,
  TokenAmounts,
  VariantConditions,
} from "../../model_types/price_terms.ts";
import { dramaParts } from "../../workflows/dramas/drama_parts.ts";
import { maxShotPrice } from "../../workflows/dramas/shot_price.ts";
import { formatCount, formatPrice } from "../format.ts";
import { readableName } from "../readable_name.ts";

const NAMES: Readonly<Record<TokenAmount, string>> = {
  input_price: "Input",
  cached_input_price: "Cached input",
  cache_write_price: "Cache write",
  cache_write_1h_price: "Long cache write",
  audio_input_price: "Audio input",
  output_price: "Output",
  reasoning_price: "Reasoning",
  audio_output_price: "Audio output",
};

export type PriceLine = readonly [name: string, text: string];

/** The amounts of a price, one per line: `["Input", "$0.15 per 1M tokens"]`. */
export function priceLines(price: Price, currency: string): PriceLine[] {
  const { terms } = price;
  const lines = amountLines(terms, (amount) => perUnit(amount, price, currency));
  const short = (amount: string) => formatPrice(amount, currency);
  if (terms.price !== undefined) lines.push(["Price", perUnit(terms.price, price, currency)]);
  for (const { when, price: amount } of terms.variants ?? []) {
    lines.push([conditionText(when), perUnit(amount, price, currency)]);
  }
  for (const { above_input_tokens: above, ...amounts } of terms.tiers ?? []) {
    lines.push([`Above ${formatCount(above)} input tokens`, listAmounts(amounts, short)]);
  }
  for (const [name, { multiplier, ...amounts }] of Object.entries(terms.service_tiers ?? {})) {
    const text = multiplier === undefined ? listAmounts(amounts, short) : `${multiplier} × price`;
    lines.push([`Service tier ${name}`, text]);
  }
  if (terms.fees?.web_search !== undefined) {
    lines.push(["Web search", `${short(terms.fees.web_search)} each`]);
  }
  if (terms.minimum_charge !== undefined) lines.push(["Minimum", short(terms.minimum_charge)]);
  return lines;
}

function amountLines(amounts: TokenAmounts, format: (amount: string) => string): PriceLine[] {
  return Object.entries(NAMES).flatMap(([name, label]): PriceLine[] => {
    const amount = amounts[name as TokenAmount];
    return amount === undefined ? [] : [[label, format(amount)]];
  });
}

function listAmounts(amounts: TokenAmounts, format: (amount: string) => string): string {
  return amountLines(amounts, format).map(([label, text]) => `${label.toLowerCase()} ${text}`)
    .join(", ");
}

/** `1024x1024, high`. */
function conditionText(when: VariantConditions): string {
  return Object.entries(when).map(([name, wanted]) => {
    if (typeof wanted === "boolean") return wanted ? `with ${name}` : `without ${name}`;
    const values = [wanted].flat().join(" or ");
    return name === "duration" ? `${values} s` : values;
  }).join(", ");
}

/** A price in one short line, for lists. */
export function priceSummary(
  config: Config,
  account: PricedAccount,
  model: Model,
  price: Price,
): string {
  const { currency } = config.service;
  const { price: single, input_price: input, output_price: output, variants = [] } = price.terms;
  if (single !== undefined) {
    const shot = maxShotPrice(config, account, model);
    if (shot !== null) {
      const perShot = `p to ${formatPrice(shot, currency)} per shot with the models used`;
      return price.unit === "shot"
        ? `U${perShot}`
        : `${perUnit(single, price, currency)}, plus u${perShot}`;
    }
    const lowest = [single, ...variants.map((variant) => variant.price)].reduce((a, b) =>
      decimal(b) < decimal(a) ? b : a
    );
    const from = variants.length === 0 ? "" : "from ";
    const text = `${from}${perUnit(lowest, price, currency)}`;
    return model.pipeline === null ? text : `${text} plus models used`;
  }
  if (output === undefined) return perUnit(input ?? "0", price, currency);
  return `${formatPrice(input ?? "0", currency)} in, ${formatPrice(output, currency)} out per ${
    unitOf(price)
  }`;
}

/** The prices of the models that a drama uses, by what they are used for. They are charged on top of its own. */
export function stagePriceLines(
  config: Config,
  account: PricedAccount,
  { pipeline }: Model,
): PriceLine[] {
  return dramaParts({ pipeline }).flatMap(({ stage, model: id, per }): PriceLine[] => {
    const model = config.models.get(id);
    const price = model && priceFor(config, account, id, Date.now());
    if (!model || !price) return [];
    const isVideo = stage === "video" && pipeline?.video.offered;
    const each = isVideo ? `${pipeline.video.duration} s` : "once";
    const note = per === "shot" ? `, ${each} per shot` : "";
    const text = priceSummary(config, account, model, price);
    return [[readableName(stage), `${text} (${id}${note})`]];
  });
}

function perUnit(amount: string, price: Price, currency: string): string {
  return `${formatPrice(amount, currency)} per ${unitOf(price)}`;
}

function unitOf({ unit }: Price): string {
  return unit.replace(/^1K /, "1,000 ");
}
