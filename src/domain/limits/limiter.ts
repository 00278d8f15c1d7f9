/** What a limit has left after a request asked for its share. */
export interface Allowance {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Seconds until the full limit is there again. */
  resetSeconds: number;
  /** Seconds after which the same request would pass; 0 when it passed. */
  retryAfterSeconds: number;
}

/** Holds keys to their rates. `now` as `performance.now()`. */
export interface Limiter {
  /** Takes `amount` of the key's `perMinute`, or nothing at all. Answers at once wherever it can. */
  take(
    key: string,
    perMinute: number,
    amount: number,
    now: number,
  ): Allowance | Promise<Allowance>;
  /**
   * Corrects what was taken by what was used. More than there is may be owed: then the key waits until it
   * is made up. A negative amount gives back.
   */
  owe(key: string, perMinute: number, amount: number, now: number): void;
}

export const MINUTE_MS = 60_000;

/** A microsecond: intervals and moments are not exact in binary. */
const SLACK_MS = 1e-3;

/**
 * How a bucket stands that will be full again in `levelMs`. Every amount is a length of time, the one in
 * which it flows back: a minute is the whole bucket, whatever the rate.
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
