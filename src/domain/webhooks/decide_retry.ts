import type { AttemptResult } from "./attempt.ts";
import type { ClaimedDelivery } from "./claim.ts";

/** What follows from an attempt for its delivery. */
export type RetryDecision =
  | { readonly outcome: "delivered" }
  | { readonly outcome: "retry"; readonly waitMs: number }
  | { readonly outcome: "failed"; readonly reason: "retries_spent" | "gone" };

const GONE = 410;
const JITTER = 0.2;
/** A longer `Retry-After` is cut to a day. */
const RETRY_AFTER_SECONDS_MAX = 86_400;

export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** `retrySeconds`: the delays before each attempt, the first one included. */
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
  // With jitter, so that deliveries that failed together are not retried together; never before `Retry-After`.
  const spread = next * (1 - JITTER + 2 * JITTER * random());
  return { outcome: "retry", waitMs: Math.round(Math.max(spread, asked) * 1000) };
}
