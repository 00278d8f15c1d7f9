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

const MINUTE_MS = 60_000;
const PRUNE_AT = 50_000;

/**
 * GCRA: one number per key, the moment at which its bucket will be full again. A key may spend its
 * minute at once and then gets it back evenly; there is no window at whose edge everybody waits.
 */
export class RateLimiter {
  readonly #fullAt = new Map<string, number>();
  #pruneAt = PRUNE_AT;

  /** Takes `amount` of the key's `perMinute`, or nothing at all. `now` never goes back. */
  take(key: string, perMinute: number, amount: number, now: number): Allowance {
    const interval = MINUTE_MS / perMinute;
    const before = Math.max(this.#fullAt.get(key) ?? now, now);
    const after = before + interval * amount;
    // A tenth of a microsecond of slack: the intervals are not exact in binary.
    const allowed = after - now <= MINUTE_MS + 1e-4;
    const fullAt = allowed ? after : before;
    if (allowed) {
      this.#fullAt.set(key, fullAt);
      if (this.#fullAt.size > this.#pruneAt) this.#prune(now);
    }
    return {
      allowed,
      limit: perMinute,
      remaining: Math.max(0, Math.floor((MINUTE_MS - (fullAt - now) + 1e-4) / interval)),
      resetSeconds: Math.ceil((fullAt - now) / 1000),
      retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((after - now - MINUTE_MS) / 1000)),
    };
  }

  /**
   * Corrects what was taken by what was used. More than there is may be owed: then the key waits until it
   * is made up. A negative amount gives back.
   */
  owe(key: string, perMinute: number, amount: number, now: number): void {
    const before = Math.max(this.#fullAt.get(key) ?? now, now);
    this.#fullAt.set(key, Math.max(now, before + MINUTE_MS / perMinute * amount));
  }

  /** Full buckets need no memory. */
  #prune(now: number): void {
    for (const [key, fullAt] of this.#fullAt) if (fullAt <= now) this.#fullAt.delete(key);
    this.#pruneAt = Math.max(PRUNE_AT, this.#fullAt.size * 2);
  }
}
