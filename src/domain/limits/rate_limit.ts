import {
  type Allowance,
  allowance,
  isWithinAllowance,
  type Limiter,
  MINUTE_MS,
} from "./limiter.ts";

const PRUNE_AT = 50_000;

/**
 * GCRA: one number per key, the time at which its bucket will be full again. A key may spend its
 * minute at once and then gets it back evenly; there is no window at whose end all clients wait.
 *
 * This one is for a single node; shared_rate.ts is for several.
 */
export class RateLimiter implements Limiter {
  readonly #fullAt = new Map<string, number>();
  #pruneAt = PRUNE_AT;

  /** How many keys it knows. */
  get size(): number {
    return this.#fullAt.size;
  }

  take(key: string, perMinute: number, amount: number, now: number): Allowance {
    const need = MINUTE_MS / perMinute * amount;
    const level = Math.max(0, (this.#fullAt.get(key) ?? now) - now);
    const allowed = isWithinAllowance(level, need);
    if (allowed) {
      this.#fullAt.set(key, now + level + need);
      if (this.#fullAt.size > this.#pruneAt) this.#prune(now);
    }
    return allowance(allowed, perMinute, allowed ? level + need : level, need);
  }

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
