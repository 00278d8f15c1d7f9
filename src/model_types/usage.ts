import { decimal, SCALE } from "../lib/money.ts";
import { optionsOf, type OptionValue, type RequestOptions } from "./price_terms.ts";

/** What a request used. Tokens are counted once: a cached one is not also an input one. */
export interface Usage {
  input_tokens?: number;
  cached_input_tokens?: number;
  /** Written to the provider's cache, for some minutes or for an hour. */
  cache_write_tokens?: number;
  cache_write_1h_tokens?: number;
  audio_input_tokens?: number;
  output_tokens?: number;
  reasoning_tokens?: number;
  audio_output_tokens?: number;
  web_searches?: number;
  /** The processing tier that is billed; left out for the base price. */
  service_tier?: string;
  images?: number;
  videos?: number;
  episodes?: number;
  shots?: number;
  calls?: number;
  characters?: number;
  /** A whole number, or an exact decimal such as "5.25". */
  seconds?: number | string;
  /** Options of the request that prices may depend on, such as its quality. */
  options?: RequestOptions;
  /** Counted by the gateway, because the upstream did not say. */
  estimated?: boolean;
  /** Usage per model if several models took part; the amounts sum to the price, of which quotas may have paid a part. */
  items?: readonly UsageItem[];
}

export interface UsageItem {
  stage: string;
  shot?: number;
  model: string;
  usage: Usage;
  amount: string;
}

export type Quantity = Exclude<
  keyof Usage,
  "seconds" | "service_tier" | "options" | "estimated" | "items"
>;

/** What quotas count: tokens of text, images, seconds of video. */
export type UsageKind = "text" | "image" | "video";
export const USAGE_KINDS: readonly UsageKind[] = ["text", "image", "video"];

/** A usage with the options of its request that a price may depend on. */
export function withOptions<Counted extends Usage>(
  usage: Counted,
  parameters: Readonly<Record<string, OptionValue>>,
): Counted {
  const options = optionsOf(parameters);
  return Object.keys(options).length === 0 ? usage : { ...usage, options };
}

/** Counts that no token is in twice. Together, those of one side are what the provider counts in all. */
export const INPUT_BUCKETS = [
  "input_tokens",
  "cached_input_tokens",
  "cache_write_tokens",
  "cache_write_1h_tokens",
  "audio_input_tokens",
] as const;
export const OUTPUT_BUCKETS = ["output_tokens", "reasoning_tokens", "audio_output_tokens"] as const;
const TOKENS = [...INPUT_BUCKETS, ...OUTPUT_BUCKETS];

/** Quantities that are whole numbers and can be summed as such. */
export const COUNTED_QUANTITIES = [
  ...INPUT_BUCKETS,
  ...OUTPUT_BUCKETS,
  "web_searches",
  "images",
  "characters",
] as const satisfies readonly (keyof Usage)[];

/** What reports have a column for, in its order. */
export const REPORTED_QUANTITIES = [
  ...INPUT_BUCKETS,
  ...OUTPUT_BUCKETS,
  "web_searches",
  "images",
  "seconds",
  "characters",
] as const satisfies readonly (keyof Usage)[];

/** How much of a quota a request uses; a second that has begun counts. */
export function unitsOf(kind: UsageKind | null, usage: Usage): bigint {
  switch (kind) {
    case "text":
      return TOKENS.reduce((sum, name) => sum + countOf(usage, name), 0n);
    case "image":
      return countOf(usage, "images");
    case "video":
      return (secondsOf(usage) + ONE_SECOND - 1n) / ONE_SECOND;
    case null:
      return 0n;
  }
}

const ONE_SECOND = 10n ** BigInt(SCALE);

/** A counted quantity; 0 when it is not mentioned. */
export function countOf(usage: Usage, name: Quantity): bigint {
  const value = usage[name] ?? 0;
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(
      `Cannot charge for ${value} ${name}: it must be a whole number, not below zero`,
    );
  }
  return BigInt(value);
}

/** The seconds, in units of 10⁻¹². */
export function secondsOf({ seconds = 0 }: Usage): bigint {
  if (typeof seconds === "number" && !Number.isSafeInteger(seconds)) {
    throw new RangeError(
      `Cannot charge for ${seconds} seconds: write a fraction as a decimal string`,
    );
  }
  const value = decimal(String(seconds));
  if (value < 0n) {
    throw new RangeError(`Cannot charge for ${seconds} seconds: there is no negative time`);
  }
  return value;
}
