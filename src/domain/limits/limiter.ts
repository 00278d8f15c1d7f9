/** The state of a limit after a request. */
export interface Allowance {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Seconds until the full limit is available again. */
  resetSeconds: number;
  /** Seconds after which the same request would pass; 0 when it passed. */
  retryAfterSeconds: number;
}

/** Enforces rate limits of keys. `now` as `performance.now()`. */
export interface Limiter {
  /** Takes `amount` of the key's `perMinute`, or nothing at all. Synchronous where possible. */
  take(
    key: string,
    perMinute: number,
    amount: number,
    now: number,
  ): Allowance | Promise<Allowance>;
  /**
   * Corrects the taken amount to the used amount. It may exceed the limit: then the key waits until it
   * has refilled. A negative amount returns.
   */
  owe(key: string, perMinute: number, amount: number, now: number): void;
}

export const MINUTE_MS = 60_000;

/** A microsecond: times are not exact in binary. */
const SLACK_MS = 1e-3;

/**
 * The state of a bucket that will be full again in `levelMs`. Every amount is a duration, the time in
 * which it refills: a minute is the whole bucket, whatever the rate.
 */
export function allowance(
  allowed: boolean,
  perMinute: number,
  levelMs: number,
  needMs: number,
): Allowance {
  const level = Math.max(0, levelMs);
  const interval = MINUTE_MS / perMinute;
  return {
    allowed,
    limit: perMinute,
    remaining: Math.max(0, Math.floor((MINUTE_MS - level + SLACK_MS) / interval)),
    resetSeconds: Math.ceil((level - SLACK_MS) / 1000),
    retryAfterSeconds: allowed
      ? 0
      : Math.max(1, Math.ceil((level + needMs - MINUTE_MS - SLACK_MS) / 1000)),
  };
}

export function isWithinAllowance(levelMs: number, needMs: number): boolean {
  return Math.max(0, levelMs) + needMs <= MINUTE_MS + SLACK_MS;
}
