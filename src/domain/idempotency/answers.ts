import { ApiError } from "../../lib/api_error.ts";
import type { Queries } from "../../platform/database/database.ts";
import { type SecretBox, UnreadableSecret } from "../../platform/secrets/types.ts";
import type { Log } from "../../platform/telemetry/log.ts";
import { type IdempotencyIdentity, keyReused } from "./key.ts";

/** Larger answers are not kept. */
export const ANSWER_CHARACTERS_MAX = 4_000_000;
const RETRY_SECONDS = 2;

export interface AnswerTiming {
  /** How long a request counts as under way after its node has died. */
  readonly leaseSeconds: number;
}

const TIMING: AnswerTiming = { leaseSeconds: 60 };

/** An answer that was given before. */
export interface KeptAnswer {
  readonly body: string;
  readonly isStream: boolean;
}

interface Row {
  path: string;
  body_hash: string;
  request_id: string;
  is_answered: boolean;
  is_stream: boolean;
  answer: string | null;
  /** It was charged, or may be. */
  is_charged: boolean;
  is_leased: boolean;
}

/** Answers of requests with an `Idempotency-Key`. Each is made, and charged, once. */
export class IdempotentAnswers {
  readonly #timing: AnswerTiming;

  constructor(
    private readonly sql: Queries,
    private readonly box: SecretBox,
    private readonly log: Pick<Log, "error">,
    timing: Partial<AnswerTiming> = {},
  ) {
    this.#timing = { ...TIMING, ...timing };
  }

  /** The answer of the same earlier request, or the right to make it. Throws while another request makes it. */
  async claim(
    account: string,
    identity: IdempotencyIdentity,
    requestId: string,
  ): Promise<KeptAnswer | AnswerClaim> {
    const { key, path, bodyHash } = identity;
    // The row of a request that failed meanwhile is gone: then this one is the first.
    for (let tries = 0; tries < 3; tries++) {
      const claimedAt = performance.now();
      const claimed = await this.sql`
        insert into idempotent_answer as a (account_id, key, path, body_hash, request_id, lease_until, expires_at)
        values (${account}, ${key}, ${path}, ${bodyHash}, ${requestId},
                now() + make_interval(secs => ${this.#timing.leaseSeconds}), now() + interval '1 day')
        on conflict (account_id, key) do update
           set path = excluded.path, body_hash = excluded.body_hash, request_id = excluded.request_id,
               lease_until = excluded.lease_until, expires_at = excluded.expires_at,
               answered_at = null, answer = null, is_stream = false
         where a.expires_at <= now()
            or a.answered_at is null and a.lease_until <= now()
               and a.path = excluded.path and a.body_hash = excluded.body_hash
               and not ${this.#isCharged()}`;
      if (claimed.count > 0) {
        return new AnswerClaim(this.#claimDeps(), { account, identity, requestId }, claimedAt);
      }
      const [row] = await this.sql<Row[]>`
        select path, body_hash, request_id, answered_at is not null as is_answered, is_stream, answer,
               lease_until > now() as is_leased, ${this.#isCharged()} as is_charged
          from idempotent_answer a where account_id = ${account} and key = ${key}`;
      if (row !== undefined) return this.#read(row, identity);
    }
    throw inProgress(identity);
  }

  #isCharged() {
    return this.sql`(
      exists (select from hold h where h.id = a.request_id)
      or exists (select from receipt r, unnest(r.taken) part where r.id = a.request_id and part > 0))`;
  }

  #read(row: Row, identity: IdempotencyIdentity): KeptAnswer {
    if (row.path !== identity.path || row.body_hash !== identity.bodyHash) {
      throw keyReused(identity);
    }
    const body = this.#open(row);
    if (body !== null) return { body, isStream: row.is_stream };
    if (!row.is_answered && (row.is_leased || !row.is_charged)) throw inProgress(identity);
    const { param } = identity;
    throw new ApiError(
      "idempotency_key_reused",
      `The request with this ${param} was charged, but its answer was not kept. Send a new ${param}.`,
      { param },
    );
  }

  /** Null also where the key that sealed it is gone: then it counts as not kept. */
  #open({ answer, request_id }: Row): string | null {
    if (answer === null) return null;
    try {
      return this.box.unseal(answer, request_id);
    } catch (error) {
      if (error instanceof UnreadableSecret) return null;
      throw error;
    }
  }

  #claimDeps(): ClaimDeps {
    return { sql: this.sql, box: this.box, log: this.log, leaseSeconds: this.#timing.leaseSeconds };
  }
}

interface ClaimDeps extends AnswerTiming {
  readonly sql: Queries;
  readonly box: SecretBox;
  readonly log: Pick<Log, "error">;
}

interface ClaimedRow {
  readonly account: string;
  readonly identity: IdempotencyIdentity;
  readonly requestId: string;
}

/** The right to make the answer. Ends with `keep` or `release`; until then it is renewed. */
export class AnswerClaim {
  readonly #renewal: ReturnType<typeof setInterval>;
  /** The lease could have ended after this time; as `performance.now()`. */
  #leasedUntil: number;
  #isOver = false;

  constructor(
    private readonly deps: ClaimDeps,
    private readonly row: ClaimedRow,
    claimedAt: number,
  ) {
    this.#leasedUntil = claimedAt + deps.leaseSeconds * 1000;
    const renewMs = deps.leaseSeconds * 1000 / 3;
    this.#renewal = setInterval(() => void this.#try(() => this.#renew()), renewMs);
  }

  /**
   * Throws if the right is lost: the lease has ended, as while this process was paused, and another request makes the
   * answer. Called before the answer is charged.
   */
  async confirm(): Promise<void> {
    if (performance.now() < this.#leasedUntil || await this.#renew()) return;
    throw inProgress(this.row.identity);
  }

  /**
   * Keeps the answer, unless it is too large; null: it is. An answer that cannot be kept still reaches its client.
   */
  async keep(made: KeptAnswer | null): Promise<void> {
    if (!this.#end()) return;
    const { sql, box } = this.deps;
    const { account, identity: { key }, requestId } = this.row;
    const isKept = made !== null && made.body.length <= ANSWER_CHARACTERS_MAX;
    const answer = isKept ? box.seal(made.body, requestId) : null;
    const isStream = made?.isStream ?? false;
    await this.#try(() =>
      sql`
        update idempotent_answer
           set answered_at = now(), is_stream = ${isStream}, answer = ${answer},
               expires_at = now() + interval '1 day'
         where account_id = ${account} and key = ${key} and request_id = ${requestId}`
    );
  }

  /** There is no answer: a repeated request makes it. */
  async release(): Promise<void> {
    if (!this.#end()) return;
    const { account, identity: { key }, requestId } = this.row;
    await this.#try(() =>
      this.deps.sql`
        delete from idempotent_answer
         where account_id = ${account} and key = ${key} and request_id = ${requestId}
           and answered_at is null`
    );
  }

  /** False: the right is lost. */
  async #renew(): Promise<boolean> {
    const { sql, leaseSeconds } = this.deps;
    const { account, identity: { key }, requestId } = this.row;
    const renewedAt = performance.now();
    const { count } = await sql`
      update idempotent_answer set lease_until = now() + make_interval(secs => ${leaseSeconds})
       where account_id = ${account} and key = ${key} and request_id = ${requestId}`;
    if (count > 0) this.#leasedUntil = renewedAt + leaseSeconds * 1000;
    return count > 0;
  }

  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearInterval(this.#renewal);
    return true;
  }

  async #try(write: () => PromiseLike<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      const { requestId: request_id } = this.row;
      this.deps.log.error("idempotent answer not kept", { request_id, error });
    }
  }
}

function inProgress({ param }: IdempotencyIdentity): ApiError {
  return new ApiError(
    "idempotency_in_progress",
    `The request with this ${param} is under way. Repeat it when it has ended.`,
    { param, retryAfterSeconds: RETRY_SECONDS },
  );
}
