import { z } from "zod";
import type { PriceSnapshot } from "./snapshot.ts";
import type { Usage } from "../../model_types/usage.ts";

const amount = z.string().optional();
const tokenAmounts = {
  input_price: amount,
  output_price: amount,
  cached_input_price: amount,
  cache_write_price: amount,
  cache_write_1h_price: amount,
  reasoning_price: amount,
  audio_input_price: amount,
  audio_output_price: amount,
};
const optionValue = z.union([z.string(), z.number(), z.boolean()]);

/** A price as it is stored with what was accepted under it. */
export const storedPrice: z.ZodType<PriceSnapshot> = z.object({
  model: z.string(),
  billing_type: z.enum(["token", "per_call", "duration"]),
  unit: z.string(),
  book: z.string(),
  effective_at: z.string(),
  price: amount,
  ...tokenAmounts,
  minimum_charge: amount,
  tiers: z.array(z.object({ above_input_tokens: z.number(), ...tokenAmounts })).optional(),
  service_tiers: z.record(z.string(), z.object({ multiplier: amount, ...tokenAmounts })).optional(),
  fees: z.object({ web_search: amount }).optional(),
  variants: z.array(z.object({
    when: z.record(z.string(), z.union([optionValue, z.array(optionValue)])),
    price: z.string(),
  })).optional(),
});

const count = z.number().int().min(0).optional();

/** Usage as it is stored with what was made; whether it can be charged is checked when it is. */
export const storedUsage: z.ZodType<Usage> = z.object({
  input_tokens: count,
  cached_input_tokens: count,
  cache_write_tokens: count,
  cache_write_1h_tokens: count,
  audio_input_tokens: count,
  output_tokens: count,
  reasoning_tokens: count,
  audio_output_tokens: count,
  web_searches: count,
  service_tier: z.string().optional(),
  options: z.record(z.string(), optionValue).optional(),
  images: count,
  videos: count,
  episodes: count,
  shots: count,
  calls: count,
  characters: count,
  seconds: z.union([z.number(), z.string()]).optional(),
  estimated: z.boolean().optional(),
});
