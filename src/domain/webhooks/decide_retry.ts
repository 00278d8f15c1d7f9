import type { AttemptResult } from "./attempt.ts";
import type { ClaimedDelivery } from "./claim.ts";

/** What an attempt means for its delivery. */
export type RetryDecision =
  | { readonly outcome: "delivered" }
  | { readonly outcome: "retry"; readonly waitMs: number }
  | { readonly outcome: "failed"; readonly reason: "retries_spent" | "gone" };

const GONE = 410;
const JITTER = 0.2;
/** However long a receiver asks to be left alone. */
const RETRY_AFTER_SECONDS_MAX = 86_400;

export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** `retrySeconds`: the waits before each attempt of a round, the first one's included. */
export function decideRetry(
  delivery: Pick<ClaimedDelivery, "round" | "isTest">,
  seen: Pick<AttemptResult, "status" | "retryAfterSeconds">,
  retrySeconds: readonly number[],
  random: () => number = Math.random,
): RetryDecision {
  if (isSuccess(seen.status)) return { outcome: "delivered" };
  if (seen.status === GONE) return { outcome: "failed", reason: "gone" };
  const next = retrySeconds[delivery.round + 1];
  if (delivery.isTest || next === undefined) return { outcome: "failed", reason: "retries_spent" };
  const asked = Math.min(seen.retryAfterSeconds ?? 0, RETRY_AFTER_SECONDS_MAX);
  // Spread, so that what failed together does not come back together; never before it was asked for.
  const spread = next * (1 - JITTER + 2 * JITTER * random());
  return { outcome: "retry", waitMs: Math.round(Math.max(spread, asked) * 1000) };
}
