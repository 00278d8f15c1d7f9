import { ignoreStorageUnavailable } from "../../platform/database/storage_error.ts";
import type { Cluster } from "../../platform/cluster/cluster.ts";
import type { Queries } from "../../platform/database/database.ts";
import {
  type CompiledRestrictions,
  compileRestrictions,
  type RestrictionRow,
} from "./key_restrictions.ts";
import { hashKey } from "./api_keys.ts";
import { periodic, rethrow } from "../../lib/timers.ts";

/** The account and key of a request. */
export interface Caller {
  readonly key: string;
  readonly account: string;
  readonly plan: string;
  readonly planExpiresAt: number;
  readonly priceBook: string | null;
  /** What its key may do; null where there is no key, or it may do everything. */
  readonly restrictions: CompiledRestrictions | null;
  /** Every request of a suspended account is refused. */
  readonly isSuspended: boolean;
  /** The account is slowed down until then; 0 if it is not. */
  readonly slowedUntil: number;
  /** Bodies of its requests may be kept. */
  readonly logBodies: boolean;
}

interface KeyRow extends RestrictionRow {
  key: string;
  account: string;
  plan: string;
  plan_expires_at: Date | null;
  price_book: string | null;
  slowed_until: Date | null;
  is_suspended: boolean;
  is_restricted: boolean;
}

const REMEMBERED_MAX = 100_000;
const RECENT_MAX = 10_000;
const TIDY_MS = 60_000;

/**
 * Finds the caller of a key, in memory if it was used before. Cached entries are used
 * only while this node receives change notifications, and are dropped when one concerns them.
 */
export class ApiKeyCache implements AsyncDisposable {
  /** By hash, until a change concerns it. */
  readonly #cached = new Map<string, Caller>();
  /** By the key itself, for a minute: a busy client is not hashed at every request. */
  readonly #recent = new Map<string, Caller>();
  readonly #asking = new Map<string, Promise<Caller | null>>();
  readonly #used = new Set<string>();
  readonly #tidying: Disposable;
  /** Counts changes: a row that was read before a change must not be cached after it. */
  #generation = 0;

  constructor(private readonly sql: Queries, private readonly cluster: Cluster) {
    cluster.onChange((topic, subject) => {
      this.#generation++;
      this.#recent.clear();
      for (const [hash, caller] of this.#cached) {
        if ((topic === "api_key" ? caller.key : caller.account) === subject) {
          this.#cached.delete(hash);
        }
      }
    });
    this.#tidying = periodic(() => {
      this.#recent.clear();
      return this.#recordUsed();
    }, { intervalMs: TIDY_MS, onError: rethrow });
  }

  /** The caller, synchronously if cached; null if there is no such key. `now` as `performance.now()`. */
  find(key: string, now: number): Caller | null | Promise<Caller | null> {
    if (this.cluster.isCacheValid(now)) {
      const recent = this.#recent.get(key);
      if (recent !== undefined) return recent;
      const caller = this.#cached.get(hashKey(key));
      if (caller !== undefined) {
        if (this.#recent.size < RECENT_MAX) this.#recent.set(key, caller);
        this.#used.add(caller.key);
        return caller;
      }
    }
    return this.#ask(hashKey(key));
  }

  /** A thousand requests with one new key make one query. */
  #ask(hash: string): Promise<Caller | null> {
    const asking = this.#asking.get(hash);
    if (asking !== undefined) return asking;
    const asked = this.#query(hash).finally(() => this.#asking.delete(hash));
    this.#asking.set(hash, asked);
    return asked;
  }

  async #query(hash: string): Promise<Caller | null> {
    const generation = this.#generation;
    const [row] = await this.sql<[KeyRow?]>`
      select k.id as key, a.id as account, a.plan, a.plan_expires_at, a.price_book, a.slowed_until,
             a.suspended_at is not null as is_suspended, k.expires_at, k.models, k.requests_per_minute,
             k.tokens_per_minute, k.allowed_ips, k.log_bodies, k.budget_amount, k.budget_period,
             num_nonnulls(k.expires_at, k.models, k.requests_per_minute, k.tokens_per_minute, k.allowed_ips,
                          k.budget_amount) > 0 as is_restricted
        from api_key k join account a on a.id = k.account_id
       where k.hash = decode(${hash}, 'hex') and k.revoked_at is null and a.closed_at is null`;
    if (row === undefined) return null;
    const caller: Caller = {
      key: row.key,
      account: row.account,
      plan: row.plan,
      planExpiresAt: row.plan_expires_at?.getTime() ?? Infinity,
      priceBook: row.price_book,
      restrictions: row.is_restricted ? compileRestrictions(row) : null,
      isSuspended: row.is_suspended,
      slowedUntil: row.slowed_until?.getTime() ?? 0,
      logBodies: row.log_bodies,
    };
    if (generation === this.#generation) {
      if (this.#cached.size >= REMEMBERED_MAX) this.#evictOldest();
      this.#cached.set(hash, caller);
    }
    this.#used.add(caller.key);
    return caller;
  }

  #evictOldest(): void {
    const oldest = this.#cached.keys().next();
    if (!oldest.done) this.#cached.delete(oldest.value);
  }

  async #recordUsed(): Promise<void> {
    const keys = [...this.#used];
    if (keys.length === 0) return;
    this.#used.clear();
    // Only informative: dropped when the database is away.
    await this.sql`update api_key set last_used_at = now() where id = any(${keys})`
      .catch(ignoreStorageUnavailable);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#tidying[Symbol.dispose]();
    await this.#recordUsed();
  }
}
