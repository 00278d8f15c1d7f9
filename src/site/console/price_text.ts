import type { PricedAccount } from "../../domain/pricing/find_price.ts";
import { priceFor } from "../../domain/pricing/find_price.ts";
import type { Config, Model, Price } from "../../platform/config/config.ts";
import type { TokenAmount } from "../../model_types/price_terms.ts";
import { formatPrice } from "../format.ts";

const NAMES: Readonly<Record<string, string>> = {
  input_price: "Input",
  cached_input_price: "Cached input",
  output_price: "Output",
  reasoning_price: "Reasoning",
};

export type PriceLine = readonly [name: string, text: string];

/** The amounts of a price, one per line: `["Input", "$0.15 per 1M tokens"]`. */
export function priceLines(price: Price, currency: string): PriceLine[] {
  const lines: PriceLine[] = [];
  for (const [name, label] of Object.entries(NAMES)) {
    const amount = price.terms[name as TokenAmount];
    if (amount !== undefined) lines.push([label, perUnit(amount, price, currency)]);
  }
  if (price.terms.price !== undefined) {
    lines.push(["Price", perUnit(price.terms.price, price, currency)]);
  }
  if (price.terms.minimum_charge !== undefined) {
    lines.push(["Minimum", formatPrice(price.terms.minimum_charge, currency)]);
  }
  return lines;
}

/** A price in one short line, for lists. */
export function priceSummary(model: Model, price: Price, currency: string): string {
  const { price: single, input_price: input, output_price: output } = price.terms;
  if (single !== undefined) {
    const text = perUnit(single, price, currency);
    return model.pipeline === null ? text : `${text} plus models used`;
  }
  return `${formatPrice(input ?? "0", currency)} in, ${
    formatPrice(output ?? "0", currency)
  } out per ${unitOf(price)}`;
}

/** The prices of the models that a drama uses, by what they are used for. They are charged on top of its own. */
export function stagePriceLines(
  config: Config,
  account: PricedAccount,
  { pipeline }: Model,
): PriceLine[] {
  if (pipeline === null) return [];
  const { script, roles, storyboard, video } = pipeline;
  const stages: [name: string, model: string, note: string][] = [["Script", script.model, ""]];
  if (roles.offered) stages.push(["Roles", roles.model, ""]);
  if (storyboard.offered) stages.push(["Storyboard", storyboard.model, ", one image per shot"]);
  if (video.offered) {
    stages.push(["Video", video.model, `, ${video.duration} s per shot`]);
    if (video.speech.offered) stages.push(["Speech", video.speech.model, ""]);
  }
  const { currency } = config.service;
  return stages.flatMap(([name, id, note]): PriceLine[] => {
    const model = config.models.get(id);
    const price = model && priceFor(config, account, model.id, Date.now());
    if (!model || !price) return [];
    return [[name, `${priceSummary(model, price, currency)} (${model.id}${note})`]];
  });
}

function perUnit(amount: string, price: Price, currency: string): string {
  return `${formatPrice(amount, currency)} per ${unitOf(price)}`;
}

function unitOf({ unit }: Price): string {
  return unit.replace(/^1K /, "1,000 ");
}
