import { decimal, formatDecimal } from "../../lib/money.ts";
import type {
  ContextTier,
  ServiceTier,
  TokenAmount,
  TokenAmounts,
} from "../../model_types/price_terms.ts";
import {
  addCost,
  type Catalogue,
  type CatalogueCost,
  fail,
  objectOf,
  parseCatalogue,
} from "./catalogue.ts";
import { amountText } from "./decimals.ts";

/** Fields of LiteLLM's file by ours, in the order of our documentation. All are for one token. */
const TOKEN_FIELDS: readonly (readonly [TokenAmount, string])[] = [
  ["input_price", "input_cost_per_token"],
  ["output_price", "output_cost_per_token"],
  ["cached_input_price", "cache_read_input_token_cost"],
  ["cache_write_price", "cache_creation_input_token_cost"],
  ["cache_write_1h_price", "cache_creation_input_token_cost_above_1hr"],
  ["reasoning_price", "output_cost_per_reasoning_token"],
  ["audio_input_price", "input_cost_per_audio_token"],
  ["audio_output_price", "output_cost_per_audio_token"],
];
const PER_MILLION = 6;
const SERVICE_TIERS = ["priority", "flex"];

/** What LiteLLM's list says of a model: costs, limits and capabilities, under its own names. */
export type LitellmFields = Readonly<Record<string, unknown>>;

/** Reads LiteLLM's `model_prices_and_context_window.json`. Models whose cost it does not know are left out. */
export function readLitellm(text: string): Catalogue {
  const catalogue = new Map<string, Map<string, CatalogueCost>>();
  for (const { provider, model, fields } of readLitellmEntries(text)) {
    const cost = litellmCost(fields);
    if (cost !== null) addCost(catalogue, { provider, model, cost });
  }
  if (catalogue.size === 0) fail("The file has no model with `litellm_provider` and a cost.");
  return catalogue;
}

/** All models of the list that have a provider. */
export function readLitellmEntries(
  text: string,
): { readonly provider: string; readonly model: string; readonly fields: LitellmFields }[] {
  return Object.entries(parseCatalogue(text)).flatMap(([name, value]) => {
    const fields = objectOf(value);
    const provider = fields?.litellm_provider;
    if (fields === null || typeof provider !== "string") return [];
    return [{ provider, model: withoutPrefix(name, provider), fields }];
  });
}

/** Most names begin with their provider: gemini/gemini-2.5-pro, groq/openai/gpt-oss-20b. */
function withoutPrefix(name: string, provider: string): string {
  return name.startsWith(`${provider}/`) ? name.slice(provider.length + 1) : name;
}

/** The cost of a model by LiteLLM's fields, which its configuration has too; null where they say none. */
export function litellmCost(fields: LitellmFields): CatalogueCost | null {
  const tokens = tokenAmounts(fields, "");
  const hasOutput = tokens.output_price !== undefined || fields.mode === "embedding";
  if (tokens.input_price !== undefined && hasOutput) {
    return {
      ...tokens,
      unit: "1M tokens",
      ...contextTiers(fields),
      ...serviceTiers(fields),
      ...searchFee(fields),
    };
  }
  return mediaCost(fields);
}

function tokenAmounts(fields: LitellmFields, suffix: string): TokenAmounts {
  const found = TOKEN_FIELDS.flatMap(([ours, theirs]) => {
    const amount = amountText(fields[theirs + suffix], PER_MILLION);
    return amount === null ? [] : [[ours, amount] as const];
  });
  return Object.fromEntries(found);
}

function contextTiers(fields: LitellmFields): { tiers?: ContextTier[] } {
  const thousands = Object.keys(fields)
    .map((name) => /^input_cost_per_token_above_(\d+)k_tokens$/.exec(name)?.[1])
    .filter((each) => each !== undefined)
    .sort((a, b) => Number(a) - Number(b));
  const tiers = thousands.map((each) => ({
    above_input_tokens: Number(each) * 1000,
    ...tokenAmounts(fields, `_above_${each}k_tokens`),
  }));
  return tiers.length === 0 ? {} : { tiers };
}

function serviceTiers(fields: LitellmFields): { service_tiers?: Record<string, ServiceTier> } {
  const base = tokenAmounts(fields, "");
  const found = SERVICE_TIERS.map((name) => [name, tokenAmounts(fields, `_${name}`)] as const)
    .filter(([, amounts]) => Object.keys(amounts).length > 0)
    .map(([name, amounts]) => [name, asMultiplier(base, amounts) ?? amounts] as const);
  return found.length === 0 ? {} : { service_tiers: Object.fromEntries(found) };
}

/** One factor where all amounts have the same: it also holds for the tiers of long prompts. */
function asMultiplier(base: TokenAmounts, amounts: TokenAmounts): ServiceTier | null {
  const names = Object.keys(base) as TokenAmount[];
  const input = decimal(base.input_price!);
  const multiplied = decimal(amounts.input_price ?? "0");
  const isSame = (name: TokenAmount) =>
    amounts[name] !== undefined &&
    decimal(amounts[name]) * input === decimal(base[name]!) * multiplied;
  if (input === 0n || !names.every(isSame)) return null;
  const one = decimal("1");
  if (multiplied * one % input !== 0n) return null;
  return { multiplier: formatDecimal(multiplied * one / input, 0) };
}

/** Searches cost by the size of their context; which size a request used is not reported, so the dearest counts. */
function searchFee(fields: LitellmFields): { fees?: { web_search: string } } {
  const sizes = Object.values(objectOf(fields.search_context_cost_per_query) ?? {})
    .filter((each) => typeof each === "number");
  const dearest = amountText(Math.max(...sizes));
  return dearest === null ? {} : { fees: { web_search: dearest } };
}

/** What is not sold by the token: one image, one second, a million characters. */
function mediaCost(fields: LitellmFields): CatalogueCost | null {
  const units: readonly (readonly [unit: string, names: readonly string[], power: number])[] = [
    ["image", ["output_cost_per_image", "input_cost_per_image"], 0],
    ["second", ["output_cost_per_video_per_second", "output_cost_per_second"], 0],
    ["1M characters", ["input_cost_per_character"], 6],
  ];
  for (const [unit, names, power] of units) {
    for (const name of names) {
      const price = amountText(fields[name], power);
      if (price !== null) return { price, unit };
    }
  }
  return null;
}
