/** Circuit breaker state of an upstream or a webhook destination. */
export interface BreakerHealth {
  state: "closed" | "open" | "half_open";
  /** Consecutive failures. */
  failures: number;
  /** As `performance.now()`: when an open breaker lets a probe through. */
  openUntil: number;
}

/**
 * What a failure means. `outage`: the other side is down for every account. `request`: the request itself may
 * have caused it, so it counts for the account that sent it and for no other. `overload`: the other side
 * reports too much load; from one account it counts like `request`, from two accounts like an outage.
 */
export interface FailureRecord {
  /** The pause that the other side asked for; the breaker then opens at once. */
  retryAfterSeconds?: number | undefined;
  cause?: "outage" | "overload" | "request";
  /** Account that sent the request, where failures are counted by account. */
  account?: string | undefined;
}

interface BreakerRecord extends BreakerHealth {
  /** How often it has opened since the last success. */
  openCount: number;
  isProbing: boolean;
  /** At least one of the consecutive failures was an outage. */
  isOutage: boolean;
  /** Accounts whose requests failed since the last probe, and the account that sends the probe. */
  failing: Set<string>;
  /** When each of the last two accounts got an overload response. */
  overloads: Map<string, number>;
  /** Requests of other accounts in flight that were allowed while the breaker is open. */
  allowedWhileOpen: number;
}

/** Consecutive failures that open the breaker. */
const FAILURES_MAX = 5;
const OPEN_MS = 5_000;
const OPEN_MS_MAX = 60_000;
/** How long a response to one account shows that the other side works. */
const RESPONSE_MS = 60_000;
const RESPONSES_MAX = 100;
/** How long an overload of one account counts, and how many accounts make it an outage. */
const OVERLOAD_MS = 60_000;
const OVERLOADED_MIN = 2;
/** Concurrent requests of other accounts while the breaker is open and no recent response shows that it works. */
const ALLOWED_WHILE_OPEN_MAX = 10;

/**
 * A circuit breaker. It opens after five consecutive failures; when its open time is over, one request is let
 * through as a probe (half-open): success closes it, failure opens it for longer.
 *
 * One account must not open it for others by sending requests that fail. So while every failure may have been
 * caused by its request, it is open only for the accounts that failed. Other accounts are allowed: all of them
 * while one of them got a response in the last minute, else a few at a time. Their success closes the breaker;
 * their failure opens it for them too, so in a real outage each account finds it open after one request. An
 * overload of two accounts within a minute opens it for all, unless another account got a response meanwhile.
 */
export class Breaker {
  readonly #records = new Map<string, BreakerRecord>();
  /** By name: when each account last got a response; the latest is last. */
  readonly #responses = new Map<string, Map<string, number>>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Whether `allow` would return true; does not start a probe. */
  wouldAllow(name: string): boolean {
    const record = this.#records.get(name);
    if (record === undefined || record.state === "closed") return true;
    return this.now() >= record.openUntil && !record.isProbing;
  }

  /** Whether a request may be sent now. In half-open state the first caller sends the probe. */
  allow(name: string, account?: string): boolean {
    const record = this.#records.get(name);
    if (record === undefined || record.state === "closed") return true;
    if (!this.wouldAllow(name)) return false;
    record.state = "half_open";
    record.isProbing = true;
    // Other accounts start afresh: an account that sends every probe must not keep them out.
    record.failing.clear();
    if (account !== undefined) record.failing.add(account);
    return true;
  }

  /**
   * Whether a request may be sent although the breaker is open, because only particular requests failed.
   * With an account, a request of that account.
   */
  allowWhileOpen(name: string, account?: string): boolean {
    const record = this.#records.get(name);
    if (record === undefined || record.state === "closed" || record.isOutage) return false;
    if (account === undefined) return !this.#isOverloaded(record);
    if (record.failing.has(account)) return false;
    return this.#respondsToOthers(name, record.failing) ||
      (record.allowedWhileOpen < ALLOWED_WHILE_OPEN_MAX && !this.#isOverloaded(record));
  }

  /** Counts a request that `allowWhileOpen` allowed; call the result when the request ends. */
  trackWhileOpen(name: string): () => void {
    const record = this.#records.get(name);
    if (record === undefined) return () => {};
    record.allowedWhileOpen++;
    return () => record.allowedWhileOpen--;
  }

  /** A response to this account has started: the other side works, however the response ends. */
  recordResponse(name: string, account: string | undefined): void {
    if (account === undefined) return;
    let responses = this.#responses.get(name);
    if (responses === undefined) this.#responses.set(name, responses = new Map());
    responses.delete(account);
    if (responses.size >= RESPONSES_MAX) responses.delete(responses.keys().next().value!);
    responses.set(account, this.now());
  }

  recordSuccess(name: string): void {
    if (this.#records.has(name)) this.#records.delete(name);
  }

  recordFailure(
    name: string,
    { retryAfterSeconds, cause = "outage", account }: FailureRecord = {},
  ): void {
    const record = this.#records.get(name) ?? newRecord();
    this.#records.set(name, record);
    record.failures++;
    if (cause === "overload" && account !== undefined) this.#recordOverload(record, account);
    else record.isOutage ||= cause !== "request";
    if (account !== undefined) record.failing.add(account);
    const wasProbe = record.isProbing;
    record.isProbing = false;
    if (retryAfterSeconds === undefined && !wasProbe && record.failures < FAILURES_MAX) return;
    // Was in flight when the breaker opened: no reason to keep it open for longer.
    if (retryAfterSeconds === undefined && record.state === "open") return;
    const usual = Math.min(OPEN_MS * 2 ** record.openCount, OPEN_MS_MAX);
    if (record.state !== "open") record.openCount++;
    record.state = "open";
    record.openUntil = this.now() +
      (retryAfterSeconds === undefined ? usual : Math.min(retryAfterSeconds * 1000, OPEN_MS_MAX));
  }

  /** The request was given up for reasons that say nothing about the other side. */
  recordAbandoned(name: string): void {
    const record = this.#records.get(name);
    if (record !== undefined) record.isProbing = false;
  }

  /** Deletes records whose open time ended before `moment`: nothing was sent there since. */
  deleteBefore(moment: number): void {
    for (const [name, { openUntil, isProbing }] of this.#records) {
      if (openUntil < moment && !isProbing) this.#records.delete(name);
    }
  }

  getHealth(name: string): BreakerHealth {
    const record = this.#records.get(name);
    if (record === undefined) return { state: "closed", failures: 0, openUntil: 0 };
    return { state: record.state, failures: record.failures, openUntil: record.openUntil };
  }

  /** Seconds until the first of these lets a request through again. */
  secondsUntilRetry(names: readonly string[]): number {
    const soonest = Math.min(...names.map((name) => this.#records.get(name)?.openUntil ?? 0));
    return Math.max(1, Math.ceil((soonest - this.now()) / 1000));
  }

  #recordOverload({ overloads }: BreakerRecord, account: string): void {
    overloads.delete(account);
    overloads.set(account, this.now());
    if (overloads.size > OVERLOADED_MIN) overloads.delete(overloads.keys().next().value!);
  }

  #isOverloaded({ overloads }: BreakerRecord): boolean {
    const since = this.now() - OVERLOAD_MS;
    let accounts = 0;
    for (const at of overloads.values()) if (at >= since) accounts++;
    return accounts >= OVERLOADED_MIN;
  }

  /** Whether an account that has not failed since got a response lately. */
  #respondsToOthers(name: string, failing: ReadonlySet<string>): boolean {
    const since = this.now() - RESPONSE_MS;
    for (const [account, at] of this.#responses.get(name) ?? []) {
      if (at >= since && !failing.has(account)) return true;
    }
    return false;
  }
}

function newRecord(): BreakerRecord {
  return {
    state: "closed",
    failures: 0,
    openUntil: 0,
    openCount: 0,
    isProbing: false,
    isOutage: false,
    failing: new Set(),
    overloads: new Map(),
    allowedWhileOpen: 0,
  };
}
