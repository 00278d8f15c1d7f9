import type { Queries } from "../../platform/database/database.ts";
import { ignoreStorageUnavailable, isStorageDown } from "../../platform/database/storage_error.ts";
import { deleteFullBuckets, lend, type Loan, type LoanRequest } from "./rate_loans.ts";
import {
  type Allowance,
  allowance,
  isWithinAllowance,
  type Limiter,
  MINUTE_MS,
} from "./limiter.ts";
import { RateLimiter } from "./rate_limit.ts";
import { periodic, rethrow, withTimeout } from "../../lib/timers.ts";
import type { Log } from "../../platform/telemetry/log.ts";

export interface SharedRateOptions {
  /** How many nodes there are, this one included. */
  nodes: () => number;
  log: Pick<Log, "warn" | "error">;
}

/** A busy key borrows this much ahead: one second of its rate. */
const AHEAD_MS = 1_000;
/** How often unused loans are returned. */
const TIDY_MS = 1_000;
/** How long a rejection is valid without another query: other nodes may have returned something. */
const TRUST_MS = 1_000;
/** Minimum time between two queries for a key that is at its limit. */
const PAUSE_MS = 10;
/** Maximum wait for the database. */
const PATIENCE_MS = 1_000;
const DELETE_FULL_MS = 60_000;
const ASKS_MAX = 500;

interface Waiter {
  needMs: number;
  perMinute: number;
  amount: number;
  resolve(allowance: Allowance): void;
}

/** State of one key in this node. All in milliseconds of the bucket. */
interface Account {
  readonly key: string;
  /** Borrowed and not used yet. */
  loan: number;
  /** To be reported: used beyond the loan; negative: returned. */
  unsettled: number;
  /** When the shared bucket is full again, as of the last query; the loan counts as used. */
  fullAt: number;
  heardAt: number;
  /** The last query lent less than was requested. */
  isDry: boolean;
  askedAt: number;
  usedAt: number;
  waiting: Waiter[];
}

/**
 * Enforces rate limits across nodes. The bucket of a key is a row in Postgres; a node borrows from it
 * before it lets a request pass, a busy one a second of the rate at a time, so that hardly any request waits
 * for the database. A loan is taken from the bucket: all nodes together never pass more than one
 * would, except for their loans. Without the database each node continues with its share.
 */
export class SharedRateLimiter implements Limiter, AsyncDisposable {
  readonly #accounts = new Map<string, Account>();
  readonly #asking = new Set<Account>();
  readonly #tidying: Disposable;
  #asked: Promise<void> | null = null;
  /** Set while the database does not respond; then this node's share is the limit. */
  #alone: RateLimiter | null = null;
  #aloneUntil = 0;
  #tidiedAt = 0;
  #deletedFullAt = performance.now();

  constructor(private readonly sql: Queries, private readonly options: SharedRateOptions) {
    this.#tidying = periodic(() => this.#tidy(performance.now()), {
      intervalMs: TIDY_MS,
      onError: rethrow,
    });
  }

  /** How many keys this node keeps a state of. */
  get size(): number {
    return this.#accounts.size;
  }

  take(
    key: string,
    perMinute: number,
    amount: number,
    now: number,
  ): Allowance | Promise<Allowance> {
    const account = this.#accountOf(key, now);
    const needMs = MINUTE_MS / perMinute * amount;
    account.usedAt = now;
    if (account.waiting.length === 0) {
      if (account.loan >= needMs) return this.#spend(account, perMinute, needMs, now);
      if (now < this.#aloneUntil) return this.#takeAlone(account, perMinute, amount, now);
      if (this.#mustRefuse(account, needMs, now)) {
        return allowance(false, perMinute, levelOf(account, now), needMs);
      }
    }
    return new Promise((resolve) => {
      account.waiting.push({ needMs, perMinute, amount, resolve });
      this.#ask(account);
    });
  }

  owe(key: string, perMinute: number, amount: number, now: number): void {
    this.#accountOf(key, now).unsettled += MINUTE_MS / perMinute * amount;
  }

  #accountOf(key: string, now: number): Account {
    let account = this.#accounts.get(key);
    if (account === undefined) {
      account = {
        key,
        loan: 0,
        unsettled: 0,
        fullAt: now,
        heardAt: -Infinity,
        isDry: false,
        askedAt: -Infinity,
        usedAt: now,
        waiting: [],
      };
      this.#accounts.set(key, account);
    }
    return account;
  }

  #spend(account: Account, perMinute: number, needMs: number, now: number): Allowance {
    account.loan -= needMs;
    return allowance(true, perMinute, levelOf(account, now), needMs);
  }

  /** Other nodes only take from a bucket, unless they return a loan; so a rejection is cached for a short time. */
  #mustRefuse(account: Account, needMs: number, now: number): boolean {
    const sinceMs = now - account.heardAt;
    if (sinceMs > TRUST_MS) return false;
    return !isWithinAllowance(levelOf(account, now), needMs) ||
      (account.isDry && sinceMs < PAUSE_MS);
  }

  #takeAlone(account: Account, perMinute: number, amount: number, now: number): Allowance {
    const share = Math.max(1, perMinute / Math.max(1, this.options.nodes()));
    const alone = this.#alone ??= this.#shareOut(now);
    const taken = alone.take(account.key, share, Math.min(amount, share), now);
    if (taken.allowed) account.unsettled += MINUTE_MS / perMinute * amount;
    return { ...taken, limit: perMinute };
  }

  /** The share of each key begins as full as the whole was. */
  #shareOut(now: number): RateLimiter {
    const alone = new RateLimiter();
    for (const [key, account] of this.#accounts) {
      alone.owe(key, MINUTE_MS, levelOf(account, now), now);
    }
    return alone;
  }

  #ask(account: Account): void {
    this.#asking.add(account);
    // Requests of the same event-loop turn share the query.
    this.#asked ??= Promise.resolve().then(() => this.#drain()).finally(() => {
      this.#asked = null;
      if (this.#asking.size > 0) this.#ask(this.#asking.values().next().value!);
    });
  }

  /** One statement at a time: requests that arrive meanwhile share the next one. */
  async #drain(): Promise<void> {
    while (this.#asking.size > 0) {
      const accounts = [...this.#asking].slice(0, ASKS_MAX);
      for (const account of accounts) this.#asking.delete(account);
      const counts = accounts.map(({ waiting }) => waiting.length);
      const now = performance.now();
      const asks = accounts.map((account) => this.#askOf(account, now));
      const late = setTimeout(() => {
        this.#goAlone(Infinity);
        for (const account of accounts) this.#answerAlone(account);
      }, PATIENCE_MS);
      try {
        const loans = await lend(this.sql, asks);
        this.#aloneUntil = 0;
        this.#alone = null;
        for (const [i, account] of accounts.entries()) {
          this.#answer(account, asks[i]!, loans[i]!, counts[i]!);
        }
      } catch (error) {
        if (!isStorageDown(error)) this.options.log.error("shared rate query failed", { error });
        this.#goAlone(performance.now() + TRUST_MS);
        // The database may have counted it: counting twice is the safe side.
        for (const [i, account] of accounts.entries()) account.unsettled += asks[i]!.settle;
        for (const account of accounts) this.#answerAlone(account);
      } finally {
        clearTimeout(late);
      }
    }
  }

  #askOf(account: Account, now: number): LoanRequest {
    const { key, loan, waiting, unsettled } = account;
    let [sum, least] = [0, Infinity];
    let isFine = false;
    for (const { needMs, amount } of waiting) {
      sum += needMs;
      least = Math.min(least, needMs);
      isFine = needMs / amount <= AHEAD_MS / 2;
    }
    const isBusy = isFine && now - account.askedAt < AHEAD_MS;
    account.unsettled = 0;
    account.askedAt = now;
    return {
      key,
      settle: unsettled,
      need: waiting.length === 0 ? 0 : Math.max(0, least - loan),
      want: Math.max(0, sum - loan) + (isBusy ? AHEAD_MS : 0),
    };
  }

  /** Serves waiting requests in order. One that arrived during the query and gets nothing waits for its own. */
  #answer(account: Account, ask: LoanRequest, { lent, level }: Loan, counted: number): void {
    const now = performance.now();
    account.loan += lent;
    account.fullAt = now + level;
    account.heardAt = now;
    account.isDry = lent < ask.want;
    const waiting = account.waiting;
    account.waiting = [];
    for (const [i, waiter] of waiting.entries()) {
      // What was lent is a difference of large numbers.
      if (account.loan + 1e-3 >= waiter.needMs) {
        account.loan = Math.max(account.loan, waiter.needMs);
        waiter.resolve(this.#spend(account, waiter.perMinute, waiter.needMs, now));
      } else if (i < counted) {
        const level = levelOf(account, now);
        waiter.resolve(allowance(false, waiter.perMinute, level, waiter.needMs));
      } else account.waiting.push(waiter);
    }
  }

  #goAlone(until: number): void {
    if (this.#aloneUntil === 0) this.options.log.warn("rate limits fall back to this node's share");
    this.#aloneUntil = until;
  }

  #answerAlone(account: Account): void {
    const now = performance.now();
    for (const { perMinute, amount, resolve } of account.waiting.splice(0)) {
      resolve(this.#takeAlone(account, perMinute, amount, now));
    }
  }

  /** Reports unsettled usage, returns unused loans, and deletes the state of idle keys. */
  #tidy(now: number): void {
    for (const [key, account] of this.#accounts) {
      if (account.waiting.length > 0) continue;
      const isIdle = account.usedAt < this.#tidiedAt;
      if (isIdle) returnLoan(account);
      if (account.unsettled !== 0) this.#ask(account);
      else if (isIdle && account.fullAt <= now && account.heardAt >= account.askedAt) {
        this.#accounts.delete(key);
      }
    }
    this.#tidiedAt = now;
    if (now - this.#deletedFullAt > DELETE_FULL_MS) {
      this.#deletedFullAt = now;
      deleteFullBuckets(this.sql).catch(ignoreStorageUnavailable);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#tidying[Symbol.dispose]();
    for (const account of this.#accounts.values()) {
      returnLoan(account);
      if (account.unsettled !== 0) this.#ask(account);
    }
    await withTimeout(Promise.resolve(this.#asked), PATIENCE_MS, () => undefined);
  }
}

function returnLoan(account: Account): void {
  account.unsettled -= account.loan;
  account.loan = 0;
}

/** How far the key's bucket is from full, as far as this node knows. */
function levelOf({ fullAt, loan, unsettled }: Account, now: number): number {
  return Math.max(0, fullAt - now) - loan + unsettled;
}
