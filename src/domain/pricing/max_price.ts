import type { Fraction } from "../../lib/money.ts";
import { INPUT_BUCKETS, OUTPUT_BUCKETS, type Usage } from "../../model_types/usage.ts";
import type { Price } from "../../platform/config/config.ts";
import { atLeast, priceOf } from "./price.ts";
import { cardOf, needOutputPrice, type RateTier, type TokenRates } from "./rate_card.ts";

/** What a request may become besides its quantities. */
export interface Possible {
  /** The processing tier that it asks for; another one than the base may serve it. */
  readonly serviceTier?: string | undefined;
  /** It asks the provider to cache its prompt for an hour. */
  readonly cachesForHour?: boolean | undefined;
  /** It has audio, or asks for some. */
  readonly hasAudio?: boolean | undefined;
}

/** The most that a usage within these quantities can cost. */
export function maxPriceOf(price: Price, most: Usage, possible: Possible = {}): Fraction {
  if (price.billingType !== "token") return priceOf(price, most);
  needOutputPrice(price, most);
  const input = sumOf(most, INPUT_BUCKETS);
  const output = sumOf(most, OUTPUT_BUCKETS);
  const searches = most.web_searches ?? 0;
  const { tiers, den, webSearch } = cardOf(price);
  if (input + output + searches === 0) return { num: 0n, den };
  let num = 0n;
  for (let at = 0; at < tiers.length; at++) {
    const { above } = tiers[at]!;
    if (above >= input) break;
    // A request with more input is in the next tier, which may be cheaper.
    const inputMax = BigInt(Math.min(input, tiers[at + 1]?.above ?? input));
    for (const rates of possibleRates(tiers[at]!, possible)) {
      const cost = inputMax * dearestInput(rates, possible) +
        BigInt(output) * dearestOutput(rates, possible);
      if (cost > num) num = cost;
    }
  }
  return atLeast(price, { num: num + BigInt(searches) * webSearch, den });
}

function possibleRates({ base, service }: RateTier, { serviceTier }: Possible): TokenRates[] {
  const asked = serviceTier === undefined ? undefined : service.get(serviceTier);
  return asked === undefined ? [base] : [base, asked];
}

/** It is not known in advance which tokens are cached, or written to the cache. */
function dearestInput({ input }: TokenRates, { cachesForHour, hasAudio }: Possible): bigint {
  const [plain, cached, write, writeForHour, audio] = input as [
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  let most = highest(plain, highest(cached, write));
  if (cachesForHour) most = highest(most, writeForHour);
  return hasAudio ? highest(most, audio) : most;
}

function dearestOutput({ output }: TokenRates, { hasAudio }: Possible): bigint {
  const [plain, reasoning, audio] = output as [bigint, bigint, bigint];
  const most = highest(plain, reasoning);
  return hasAudio ? highest(most, audio) : most;
}

function highest(a: bigint, b: bigint): bigint {
  return a >= b ? a : b;
}

function sumOf(usage: Usage, buckets: typeof INPUT_BUCKETS | typeof OUTPUT_BUCKETS): number {
  let sum = 0;
  for (const bucket of buckets) sum += usage[bucket] ?? 0;
  return sum;
}
