import { z } from "zod";
import type { PriceSnapshot } from "./snapshot.ts";
import type { Usage } from "../../model_types/usage.ts";

const amount = z.string().optional();

/** A price as it is stored with what was accepted under it. */
export const storedPrice: z.ZodType<PriceSnapshot> = z.object({
  model: z.string(),
  billing_type: z.enum(["token", "per_call", "duration"]),
  unit: z.string(),
  book: z.string(),
  effective_at: z.string(),
  price: amount,
  input_price: amount,
  output_price: amount,
  cached_input_price: amount,
  reasoning_price: amount,
  minimum_charge: amount,
});

const count = z.number().int().min(0).optional();

/** Usage as it is stored with what was made; whether it can be charged is checked when it is. */
export const storedUsage: z.ZodType<Usage> = z.object({
  input_tokens: count,
  cached_input_tokens: count,
  output_tokens: count,
  reasoning_tokens: count,
  images: count,
  videos: count,
  episodes: count,
  shots: count,
  calls: count,
  characters: count,
  seconds: z.union([z.number(), z.string()]).optional(),
  estimated: z.boolean().optional(),
});
