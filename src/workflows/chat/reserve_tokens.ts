import { ApiError } from "../../lib/api_error.ts";
import type { Limiter } from "../../domain/limits/limiter.ts";
import type { Usage } from "../../model_types/usage.ts";

/** The tokens per minute that an API key may use. */
export interface TokenRate {
  /** Id of the API key. */
  readonly apiKey: string;
  readonly perMinute: number;
}

/**
 * Takes the maximum usage from the key's token rate before the upstream is called, as with money, so that
 * concurrent requests cannot exceed the rate.
 */
export async function reserveTokens(
  limiter: Limiter,
  { apiKey, perMinute }: TokenRate,
  { input_tokens = 0, output_tokens = 0 }: Usage,
): Promise<TokenReservation> {
  // Beside the request rate of the same key.
  const key = `${apiKey} tokens`;
  // A request larger than the rate itself passes when the whole minute is available.
  const tokens = Math.min(input_tokens + output_tokens, perMinute);
  const taken = limiter.take(key, perMinute, tokens, performance.now());
  const { allowed, retryAfterSeconds } = taken instanceof Promise ? await taken : taken;
  if (allowed) return new TokenReservation({ limiter, key, perMinute }, tokens);
  throw new ApiError(
    "rate_limit_exceeded",
    `Too many tokens: this API key is limited to ${perMinute} tokens per minute. Wait before you retry.`,
    { retryAfterSeconds },
  );
}

interface LimitedRate {
  readonly limiter: Limiter;
  readonly key: string;
  readonly perMinute: number;
}

/** Tokens taken from a rate. Settle or release it once. */
export class TokenReservation {
  constructor(private readonly rate: LimitedRate, private readonly tokens: number) {}

  /** Corrects the reservation to the tokens used, at most twice what was reserved: an upstream's count may be absurd. */
  settle(used: number): void {
    this.#correct(Math.min(used, 2 * this.tokens) - this.tokens);
  }

  release(): void {
    this.#correct(-this.tokens);
  }

  #correct(tokens: number): void {
    const { limiter, key, perMinute } = this.rate;
    limiter.owe(key, perMinute, tokens, performance.now());
  }
}
