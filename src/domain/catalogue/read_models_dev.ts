import type { TokenAmount, TokenAmounts } from "../../model_types/price_terms.ts";
import {
  addCost,
  type Catalogue,
  type CatalogueCost,
  fail,
  objectOf,
  parseCatalogue,
} from "./catalogue.ts";
import { amountText } from "./decimals.ts";

/** Fields of models.dev by ours. All are for a million tokens. */
const FIELDS: readonly (readonly [TokenAmount, string])[] = [
  ["input_price", "input"],
  ["output_price", "output"],
  ["cached_input_price", "cache_read"],
  ["cache_write_price", "cache_write"],
  ["reasoning_price", "reasoning"],
  ["audio_input_price", "input_audio"],
  ["audio_output_price", "output_audio"],
];
const LONG_CONTEXT = /^context_over_(\d+)k$/;

/** Reads `api.json` of models.dev: providers, each with its models. Models without a cost are left out. */
export function readModelsDev(text: string): Catalogue {
  const catalogue = new Map<string, Map<string, CatalogueCost>>();
  for (const [provider, value] of Object.entries(parseCatalogue(text))) {
    for (const [model, fields] of Object.entries(objectOf(objectOf(value)?.models) ?? {})) {
      const cost = costOf(objectOf(objectOf(fields)?.cost) ?? {});
      if (cost !== null) addCost(catalogue, { provider, model, cost });
    }
  }
  if (catalogue.size === 0) fail("The file has no provider with `models` and their `cost`.");
  return catalogue;
}

function costOf(fields: Readonly<Record<string, unknown>>): CatalogueCost | null {
  const amounts = amountsOf(fields);
  if (amounts.input_price === undefined || amounts.output_price === undefined) return null;
  const tiers = Object.entries(fields).flatMap(([name, value]) => {
    const thousands = LONG_CONTEXT.exec(name)?.[1];
    if (thousands === undefined) return [];
    return [{ above_input_tokens: Number(thousands) * 1000, ...amountsOf(objectOf(value) ?? {}) }];
  });
  return { ...amounts, unit: "1M tokens", ...(tiers.length === 0 ? {} : { tiers }) };
}

function amountsOf(fields: Readonly<Record<string, unknown>>): TokenAmounts {
  const found = FIELDS.flatMap(([ours, theirs]) => {
    const amount = amountText(fields[theirs]);
    return amount === null ? [] : [[ours, amount] as const];
  });
  return Object.fromEntries(found);
}
