/** How somebody we call fares: an upstream, a receiver of events. */
export interface Health {
  state: "closed" | "open" | "half_open";
  /** Failures in a row. */
  failures: number;
  /** As `performance.now()`; until then it rests. */
  restUntil: number;
}

/**
 * What a failure tells. `outage`: the other side is down, whoever asks. `request`: the request itself may
 * be what it fails on, so it tells of the account that sent it and of no other. `overload`: the other side
 * says that it has too much to do; of one account it tells as little as `request`, of two it is an outage.
 */
export interface FailureRecord {
  /** What the other side itself asked for; then it rests at once. */
  restSeconds?: number | undefined;
  cause?: "outage" | "overload" | "request";
  /** Whose request it was, where requests are kept apart by account. */
  account?: string | undefined;
}

interface Watched extends Health {
  rests: number;
  isProbing: boolean;
  /** At least one failure of the row was an outage. */
  isOutage: boolean;
  /** Accounts whose own requests failed since the last probe, and the account that has it. */
  failing: Set<string>;
  /** When each of the last two accounts met an overload. */
  overloads: Map<string, number>;
  /** Requests of other accounts that were let in while it is open, and are under way. */
  trials: number;
}

/** Failures in a row that make it rest. */
const FAILURES_MAX = 5;
const REST_MS = 5_000;
const REST_MS_MAX = 60_000;
/** How long an account's success shows that the other side works. */
const SERVED_MS = 60_000;
const SERVED_MAX = 100;
/** How long an overload counts that an account met, and how many accounts make it one of the other side. */
const OVERLOAD_MS = 60_000;
const OVERLOADED_MIN = 2;
/** Requests at once by which other accounts find out whether it works, where no success shows it. */
const TRIALS_MAX = 10;

/**
 * A circuit breaker. It opens after five failures in a row; after the rest one request may try (half-open):
 * success closes it, failure makes it rest for longer.
 *
 * One account must not open it for others by requests that are made to fail. So while every failure may be
 * the requests' own fault, only accounts that failed are kept out: others are let in, all of them while one
 * of them was served in the last minute, else a few at a time. Their success closes the breaker, their
 * failure keeps them out too: in a real outage each account finds it open after one request. An overload
 * that two accounts met within a minute keeps out all, unless another account was served in that time.
 */
export class Breaker {
  readonly #records = new Map<string, Watched>();
  /** By name, when each account was last served; the latest is last. */
  readonly #served = new Map<string, Map<string, number>>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Whether `mayTry` would say yes; takes no probe. */
  wouldTry(name: string): boolean {
    const record = this.#records.get(name);
    if (record === undefined || record.state === "closed") return true;
    return this.now() >= record.restUntil && !record.isProbing;
  }

  /** Whether a request may be sent now. In half-open state the first to ask gets the probe. */
  mayTry(name: string, account?: string): boolean {
    const record = this.#records.get(name);
    if (record === undefined || record.state === "closed") return true;
    if (!this.wouldTry(name)) return false;
    record.state = "half_open";
    record.isProbing = true;
    // The others may find out anew: one account that always takes the probe keeps none of them out.
    record.failing.clear();
    if (account !== undefined) record.failing.add(account);
    return true;
  }

  /**
   * Whether it is open for nothing but failures of particular requests: then another request may well go
   * through, and need not wait for the rest to end. With an account, a request of that account.
   */
  mayKnock(name: string, account?: string): boolean {
    const record = this.#records.get(name);
    if (record === undefined || record.state === "closed" || record.isOutage) return false;
    if (account === undefined) return !this.#isOverloaded(record);
    if (record.failing.has(account)) return false;
    return this.#servesOthers(name, record.failing) ||
      (record.trials < TRIALS_MAX && !this.#isOverloaded(record));
  }

  /** Counts a request that `mayKnock` let in; what is returned ends it. */
  startTrial(name: string): () => void {
    const record = this.#records.get(name);
    if (record === undefined) return () => {};
    record.trials++;
    return () => record.trials--;
  }

  /** The other side began to answer this account: it works, however the answer ends. */
  served(name: string, account: string | undefined): void {
    if (account === undefined) return;
    let served = this.#served.get(name);
    if (served === undefined) this.#served.set(name, served = new Map());
    served.delete(account);
    if (served.size >= SERVED_MAX) served.delete(served.keys().next().value!);
    served.set(account, this.now());
  }

  succeeded(name: string): void {
    if (this.#records.has(name)) this.#records.delete(name);
  }

  failed(name: string, { restSeconds, cause = "outage", account }: FailureRecord = {}): void {
    const record = this.#records.get(name) ?? fresh();
    this.#records.set(name, record);
    record.failures++;
    if (cause === "overload" && account !== undefined) this.#noteOverload(record, account);
    else record.isOutage ||= cause !== "request";
    if (account !== undefined) record.failing.add(account);
    const wasProbe = record.isProbing;
    record.isProbing = false;
    if (restSeconds === undefined && !wasProbe && record.failures < FAILURES_MAX) return;
    // Of the same moment as the failure that began the rest: no reason to rest for longer.
    if (restSeconds === undefined && record.state === "open") return;
    const usual = Math.min(REST_MS * 2 ** record.rests, REST_MS_MAX);
    if (record.state !== "open") record.rests++;
    record.state = "open";
    record.restUntil = this.now() +
      (restSeconds === undefined ? usual : Math.min(restSeconds * 1000, REST_MS_MAX));
  }

  /** The request was given up for reasons that say nothing of the other side. */
  abandoned(name: string): void {
    const record = this.#records.get(name);
    if (record !== undefined) record.isProbing = false;
  }

  /** Drops what is known of those whose rest ended before `moment`: nobody has asked for them since. */
  forgetBefore(moment: number): void {
    for (const [name, { restUntil, isProbing }] of this.#records) {
      if (restUntil < moment && !isProbing) this.#records.delete(name);
    }
  }

  healthOf(name: string): Health {
    const record = this.#records.get(name);
    if (record === undefined) return { state: "closed", failures: 0, restUntil: 0 };
    return { state: record.state, failures: record.failures, restUntil: record.restUntil };
  }

  /** Seconds until the first of these may be tried again. */
  secondsUntil(names: readonly string[]): number {
    const soonest = Math.min(...names.map((name) => this.#records.get(name)?.restUntil ?? 0));
    return Math.max(1, Math.ceil((soonest - this.now()) / 1000));
  }

  #noteOverload({ overloads }: Watched, account: string): void {
    overloads.delete(account);
    overloads.set(account, this.now());
    if (overloads.size > OVERLOADED_MIN) overloads.delete(overloads.keys().next().value!);
  }

  #isOverloaded({ overloads }: Watched): boolean {
    const since = this.now() - OVERLOAD_MS;
    let accounts = 0;
    for (const at of overloads.values()) if (at >= since) accounts++;
    return accounts >= OVERLOADED_MIN;
  }

  /** Whether an account that has not failed since was served lately. */
  #servesOthers(name: string, failing: ReadonlySet<string>): boolean {
    const since = this.now() - SERVED_MS;
    for (const [account, at] of this.#served.get(name) ?? []) {
      if (at >= since && !failing.has(account)) return true;
    }
    return false;
  }
}

function fresh(): Watched {
  return {
    state: "closed",
    failures: 0,
    restUntil: 0,
    rests: 0,
    isProbing: false,
    isOutage: false,
    failing: new Set(),
    overloads: new Map(),
    trials: 0,
  };
}
