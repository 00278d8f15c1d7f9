/** How somebody we call fares: an upstream, a receiver of events. */
export interface Health {
  state: "closed" | "open" | "half_open";
  /** Failures in a row. */
  failures: number;
  /** As `performance.now()`; until then it rests. */
  restUntil: number;
}

/** Failures in a row that make it rest. */
const FAILURES_MAX = 5;
const REST_MS = 5_000;
const REST_MS_MAX = 60_000;

/**
 * Rests whoever fails. After the rest one request may try (half-open): success brings it back, failure
 * makes it rest for longer.
 */
export class Breaker {
  readonly #health = new Map<
    string,
    Health & { rests: number; isProbing: boolean; isIll: boolean }
  >();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Whether `mayTry` would say yes; takes no probe. */
  wouldTry(name: string): boolean {
    const health = this.#health.get(name);
    if (health === undefined || health.state === "closed") return true;
    return this.now() >= health.restUntil && !health.isProbing;
  }

  /** Whether a request may be sent now. In half-open state the first to ask gets the probe. */
  mayTry(name: string): boolean {
    const health = this.#health.get(name);
    if (health === undefined || health.state === "closed") return true;
    if (!this.wouldTry(name)) return false;
    health.state = "half_open";
    health.isProbing = true;
    return true;
  }

  /**
   * Whether it rests for nothing but failures of particular requests: then another request may well go
   * through, and need not wait for the rest to end.
   */
  mayKnock(name: string): boolean {
    const health = this.#health.get(name);
    return health !== undefined && health.state !== "closed" && !health.isIll;
  }

  succeeded(name: string): void {
    if (this.#health.has(name)) this.#health.delete(name);
  }

  /**
   * `restSeconds`: what the other side itself asked for; then it rests at once. `isOfRequest`: it answered,
   * and the request may be what it fails on.
   */
  failed(name: string, restSeconds?: number, isOfRequest = false): void {
    const health = this.#health.get(name) ??
      { state: "closed", failures: 0, restUntil: 0, rests: 0, isProbing: false, isIll: false };
    this.#health.set(name, health);
    health.failures++;
    health.isIll ||= !isOfRequest;
    const wasProbe = health.isProbing;
    health.isProbing = false;
    if (restSeconds === undefined && !wasProbe && health.failures < FAILURES_MAX) return;
    // Of the same moment as the failure that began the rest: no reason to rest for longer.
    if (restSeconds === undefined && health.state === "open") return;
    const usual = Math.min(REST_MS * 2 ** health.rests, REST_MS_MAX);
    if (health.state !== "open") health.rests++;
    health.state = "open";
    health.restUntil = this.now() +
      (restSeconds === undefined ? usual : Math.min(restSeconds * 1000, REST_MS_MAX));
  }

  /** The request was given up for reasons that say nothing of the other side. */
  abandoned(name: string): void {
    const health = this.#health.get(name);
    if (health !== undefined) health.isProbing = false;
  }

  /** Drops what is known of those whose rest ended before `moment`: nobody has asked for them since. */
  forgetBefore(moment: number): void {
    for (const [name, { restUntil, isProbing }] of this.#health) {
      if (restUntil < moment && !isProbing) this.#health.delete(name);
    }
  }

  healthOf(name: string): Health {
    const health = this.#health.get(name);
    if (health === undefined) return { state: "closed", failures: 0, restUntil: 0 };
    return { state: health.state, failures: health.failures, restUntil: health.restUntil };
  }

  /** Seconds until the first of these may be tried again. */
  secondsUntil(names: readonly string[]): number {
    const soonest = Math.min(...names.map((name) => this.#health.get(name)?.restUntil ?? 0));
    return Math.max(1, Math.ceil((soonest - this.now()) / 1000));
  }
}
