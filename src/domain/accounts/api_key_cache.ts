import type { Cluster } from "../../platform/cluster/cluster.ts";
import type { Queries } from "../../platform/database/database.ts";
import { hashKey } from "./api_keys.ts";
import { periodic, rethrow } from "../../lib/timers.ts";

/** Who is calling. */
export interface Caller {
  readonly key: string;
  readonly account: string;
  readonly plan: string;
  readonly planExpiresAt: number;
  readonly priceBook: string | null;
  /** Until then it may make fewer requests than its plan allows; 0 where it may make them all. */
  readonly slowedUntil: number;
}

const REMEMBERED_MAX = 100_000;
const RECENT_MAX = 10_000;
const TIDY_MS = 60_000;

/**
 * Finds the caller behind a key, in memory when it has been seen before. What is remembered counts
 * only while this node hears of changes, and is dropped the moment one concerns it.
 */
export class ApiKeyCache implements AsyncDisposable {
  /** By hash, for as long as it is true. */
  readonly #remembered = new Map<string, Caller>();
  /** By the key itself, for a minute: a busy client is not hashed at every request. */
  readonly #recent = new Map<string, Caller>();
  readonly #asking = new Map<string, Promise<Caller | null>>();
  readonly #used = new Set<string>();
  readonly #tidying: Disposable;
  /** Counts changes: an answer read before one must not be remembered after it. */
  #generation = 0;

  constructor(private readonly sql: Queries, private readonly cluster: Cluster) {
    cluster.onChange((topic, subject) => {
      this.#generation++;
      this.#recent.clear();
      for (const [hash, caller] of this.#remembered) {
        if ((topic === "api_key" ? caller.key : caller.account) === subject) {
          this.#remembered.delete(hash);
        }
      }
    });
    this.#tidying = periodic(() => {
      this.#recent.clear();
      return this.#noteUsed();
    }, { intervalMs: TIDY_MS, onError: rethrow });
  }

  /** The caller, at once when remembered; null when there is no such key. `now` as `performance.now()`. */
  find(key: string, now: number): Caller | null | Promise<Caller | null> {
    if (this.cluster.isFresh(now)) {
      const recent = this.#recent.get(key);
      if (recent !== undefined) return recent;
      const caller = this.#remembered.get(hashKey(key));
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
    const [row] = await this.sql<
      [
        {
          key: string;
          account: string;
          plan: string;
          plan_expires_at: Date | null;
          price_book: string | null;
          slowed_until: Date | null;
        }?,
      ]
    >`
      select k.id as key, a.id as account, a.plan, a.plan_expires_at, a.price_book, a.slowed_until
        from api_key k join account a on a.id = k.account_id
       where k.hash = decode(${hash}, 'hex') and k.revoked_at is null and a.closed_at is null`;
    if (row === undefined) return null;
    const caller: Caller = {
      key: row.key,
      account: row.account,
      plan: row.plan,
      planExpiresAt: row.plan_expires_at?.getTime() ?? Infinity,
      priceBook: row.price_book,
      slowedUntil: row.slowed_until?.getTime() ?? 0,
    };
    if (generation === this.#generation) {
      if (this.#remembered.size >= REMEMBERED_MAX) this.#forgetOldest();
      this.#remembered.set(hash, caller);
    }
    this.#used.add(caller.key);
    return caller;
  }

  #forgetOldest(): void {
    const oldest = this.#remembered.keys().next();
    if (!oldest.done) this.#remembered.delete(oldest.value);
  }

  async #noteUsed(): Promise<void> {
    const keys = [...this.#used];
    if (keys.length === 0) return;
    this.#used.clear();
    // Lost when the database is away: it is a hint for people, and not worth an error.
    await this.sql`update api_key set last_used_at = now() where id = any(${keys})`.catch(() =>
      undefined
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#tidying[Symbol.dispose]();
    await this.#noteUsed();
  }
}
