import { createHash } from "node:crypto";
import { ApiError } from "../../lib/api_error.ts";
import type { Queries } from "../../platform/database/database.ts";
import { periodic } from "../../lib/timers.ts";
import { ignoreStorageUnavailable } from "../../platform/database/storage_error.ts";

/** How many attempts are allowed: `burst` at once, then one more every so many seconds. */
export interface ThrottleLimit {
  burst: number;
  everySeconds: number;
}

const SWEEP_MS = 10 * 60_000;

/**
 * Counts attempts in the database, for all nodes together. Each attempt is one
 * statement that checks and counts; the subject is stored as a hash, because it may be an email address.
 */
export class Throttle implements Disposable {
  readonly #sweeping: Disposable;

  constructor(private readonly sql: Queries) {
    this.#sweeping = periodic(() => this.sql`delete from throttle where ready_at < now()`, {
      intervalMs: SWEEP_MS,
      onError: ignoreStorageUnavailable,
    });
  }

  /** Counts an attempt for each subject; throws if one of them has had too many. */
  async take(
    attempts: readonly (readonly [name: string, allowance: ThrottleLimit])[],
  ): Promise<void> {
    for (const [name, { burst, everySeconds }] of attempts) {
      const [row] = await this.sql<[{ ready_at: Date }?]>`
        insert into throttle as t (name, ready_at)
        values (${digest(name)}, now() + make_interval(secs => ${everySeconds}))
        on conflict (name) do update
          set ready_at = greatest(t.ready_at, now()) + make_interval(secs => ${everySeconds})
        where t.ready_at <= now() + make_interval(secs => ${(burst - 1) * everySeconds})
        returning ready_at`;
      if (row === undefined) {
        throw new ApiError(
          "rate_limit_exceeded",
          "Too many attempts: wait a while and try again.",
          {
            retryAfterSeconds: Math.ceil(everySeconds),
          },
        );
      }
    }
  }

  /** Counts an attempt without rejecting it; attempts beyond `burst` are not counted. */
  async press(name: string, { burst, everySeconds }: ThrottleLimit): Promise<void> {
    await this.sql`
      insert into throttle as t (name, ready_at)
      values (${digest(name)}, now() + make_interval(secs => ${everySeconds}))
      on conflict (name) do update
        set ready_at = least(greatest(t.ready_at, now()) + make_interval(secs => ${everySeconds}),
                             now() + make_interval(secs => ${everySeconds * burst}))`;
  }

  /** How many attempts count at present: one expires every so many seconds. */
  async pressure(name: string, { everySeconds }: ThrottleLimit): Promise<number> {
    const [row] = await this.sql<[{ seconds: number }?]>`
      select extract(epoch from ready_at - now())::float8 as seconds
        from throttle where name = ${digest(name)}`;
    return Math.max(0, row?.seconds ?? 0) / everySeconds;
  }

  /** Resets the count, after a success. */
  async reset(name: string): Promise<void> {
    await this.sql`delete from throttle where name = ${digest(name)}`;
  }

  [Symbol.dispose](): void {
    this.#sweeping[Symbol.dispose]();
  }
}

function digest(name: string): string {
  return createHash("sha256").update(name).digest("base64url");
}
