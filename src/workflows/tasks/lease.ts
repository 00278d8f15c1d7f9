import type { Queries } from "../../platform/database/database.ts";
import type { ClaimedRow, StoredOutput } from "./task.ts";
import { periodic } from "../../lib/timers.ts";
import { ignoreStorageUnavailable } from "../../platform/database/storage_error.ts";

/** Another process has claimed the task, or it has ended: this step must not change it any more. */
export class LostLease extends Error {
  override readonly name = "LostLease";
}

/** After this time without renewal another process may claim the task. */
const LEASE_SECONDS = 15;
const RENEW_MS = 5_000;
/** A notification may be slightly ahead of the database's clock. */
const EARLY_MS = 50;

/**
 * Claims a due task for this process: the fence is incremented, and only the holder of the newest fence may change the
 * row. Null: the task is not due, is claimed, or has ended. Tasks of a closed account are cancelled.
 */
export async function claimTask(sql: Queries, id: string): Promise<ClaimedRow | null> {
  const [task] = await sql<ClaimedRow[]>`
    update task t
       set fence = t.fence + 1, lease_until = now() + ${LEASE_SECONDS} * interval '1 second',
           wake_at = now() + ${LEASE_SECONDS} * interval '1 second'
      from task s left join hold h on h.id = s.request_id left join account a on a.id = s.account_id
     where t.id = ${id} and s.id = t.id
       and t.wake_at <= now() + ${EARLY_MS} * interval '1 millisecond'
       and (t.lease_until is null or t.lease_until <= now())
    returning t.id, t.account_id, t.request_id, t.type, t.model, t.status, t.progress, t.job,
      t.callback_url, t.outputs, t.stage, t.phase, t.provider, t.upstream_model, t.upstream_id,
      t.tried, t.result, t.cancel_sent_at, t.poll_count, t.failures, t.last_failure, t.download_tries, t.fence, t.parent_id,
      t.wakeups, t.config_version, coalesce(t.cancel_requested_at, a.closed_at) as cancel_requested_at,
      t.deadline_at <= now() as is_overdue,
      extract(epoch from now() - t.created_at)::float8 as age_seconds,
      extract(epoch from now() - t.submitted_at)::float8 as sent_seconds,
      h.price, h.kind`;
  return task ?? null;
}

/** Ids of due tasks, longest due first. */
export async function dueTasks(sql: Queries, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from task where wake_at <= now() order by wake_at limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Renews the lease until disposed. `signal` aborts when the lease is lost, or when `stop` aborts. */
export function keepLease(
  sql: Queries,
  { id, fence }: ClaimedRow,
  stop: AbortSignal,
): Disposable & { readonly signal: AbortSignal } {
  const lost = new AbortController();
  const renewing = periodic(async () => {
    const { count } = await sql`
      update task set lease_until = now() + ${LEASE_SECONDS} * interval '1 second',
                      wake_at = now() + ${LEASE_SECONDS} * interval '1 second'
       where id = ${id} and fence = ${fence} and completed_at is null`;
    if (count === 0) lost.abort(new LostLease());
  }, {
    intervalMs: RENEW_MS,
    // The database is away for a moment; if it stays away, what follows fails by itself.
    onError: ignoreStorageUnavailable,
    keepsProcessAlive: true,
  });
  return {
    signal: AbortSignal.any([lost.signal, stop]),
    [Symbol.dispose]: () => renewing[Symbol.dispose](),
  };
}

/** Recorded before the request is sent: after a crash it is known that an upstream may have the job. */
export async function recordSubmitting(
  sql: Queries,
  { id, fence }: ClaimedRow,
  upstream: { provider: string; model: string },
): Promise<void> {
  const { count } = await sql`
    update task set phase = 'submitting', provider = ${upstream.provider},
                    upstream_model = ${upstream.model}, submitted_at = now(), last_failure = null
     where id = ${id} and fence = ${fence} and completed_at is null`;
  if (count === 0) throw new LostLease();
}

/** The upstream has accepted the job: the model's deadline starts. The lease stays. */
export async function recordAccepted(
  sql: Queries,
  { id, fence }: ClaimedRow,
  upstreamId: string,
): Promise<void> {
  const { count } = await sql`
    update task set phase = 'accepted', upstream_id = ${upstreamId}, status = 'running',
                    started_at = now(), updated_at = now(), poll_count = 0, failures = 0, tried = '{}',
                    deadline_at = now() + make_interval(secs => deadline_seconds)
     where id = ${id} and fence = ${fence} and completed_at is null`;
  if (count === 0) throw new LostLease();
}

/** Stores results that the upstream returns only once, until they are copied. */
export async function recordResult(
  sql: Queries,
  { id, fence }: ClaimedRow,
  result: unknown,
): Promise<void> {
  const { count } = await sql`
    update task set phase = 'copying', result = ${JSON.stringify(result)}::text::jsonb,
                    status = 'running', started_at = submitted_at, updated_at = now(), failures = 0,
                    deadline_at = now() + make_interval(secs => deadline_seconds)
     where id = ${id} and fence = ${fence} and completed_at is null`;
  if (count === 0) throw new LostLease();
}

/** Records a copied result. An index that has a result keeps it. */
export async function recordOutput(
  sql: Queries,
  { id, fence }: ClaimedRow,
  output: StoredOutput,
): Promise<void> {
  const { count } = await sql`
    update task set outputs = outputs || ${JSON.stringify([output])}::text::jsonb
     where id = ${id} and fence = ${fence} and completed_at is null
       and not outputs @> ${JSON.stringify([{ index: output.index }])}::text::jsonb`;
  if (count === 0) throw new LostLease();
}

export interface TaskWait {
  delayMs: number;
  /** Never goes back. */
  progress?: number | null;
  /** The job was polled: the next poll has a longer delay. */
  hasPolled?: boolean;
}

/** Releases the task until a later step; due at once when a cancellation was requested meanwhile. */
export async function reschedule(
  sql: Queries,
  { id, fence }: ClaimedRow,
  { delayMs, progress = null, hasPolled = false }: TaskWait,
): Promise<number> {
  const moved = progress === null ? null : Math.max(0, Math.min(99, Math.trunc(progress)));
  const [row] = await sql<{ is_asked: boolean }[]>`
    update task
       set progress = greatest(progress, ${moved}::smallint),
           updated_at = case when ${moved}::smallint > progress then now() else updated_at end,
           poll_count = poll_count + ${hasPolled ? 1 : 0}, failures = 0, lease_until = null,
           wake_at = case when cancel_requested_at is not null and cancel_sent_at is null
                             and phase in ('submit', 'accepted')
                       then now() else now() + ${delayMs} * interval '1 millisecond' end
     where id = ${id} and fence = ${fence} and completed_at is null
    returning cancel_requested_at is not null and cancel_sent_at is null
                and phase in ('submit', 'accepted') as is_asked`;
  if (row === undefined) throw new LostLease();
  return row.is_asked ? 0 : delayMs;
}

/** An upstream may have the job: the next step looks it up first. */
export async function rescheduleUnclear(
  sql: Queries,
  { id, fence }: ClaimedRow,
  { lastFailure, delayMs }: { lastFailure: string; delayMs: number },
): Promise<void> {
  const { count } = await sql`
    update task
       set last_failure = ${lastFailure}, failures = 0, lease_until = null,
           wake_at = now() + ${delayMs} * interval '1 millisecond'
     where id = ${id} and fence = ${fence} and completed_at is null`;
  if (count === 0) throw new LostLease();
}

/**
 * No upstream has the job: it will be submitted to another one, or later; due at once when a cancellation was
 * requested meanwhile. Returns the delay in milliseconds.
 */
export async function rescheduleUnsent(
  sql: Queries,
  { id, fence }: ClaimedRow,
  { tried, lastFailure, delayMs, isNewRound = false }: {
    tried: readonly string[];
    lastFailure: string | null;
    delayMs: number;
    isNewRound?: boolean;
  },
): Promise<number> {
  const [row] = await sql<{ is_asked: boolean }[]>`
    update task
       set attempts = case when cardinality(${tried as string[]}::text[]) > cardinality(tried)
             then attempts || jsonb_build_object(
               'provider', provider, 'model', upstream_model, 'outcome', ${lastFailure}::text,
               'duration_ms', round(extract(epoch from now() - submitted_at) * 1000))
             else attempts end,
           phase = 'submit', provider = null, upstream_model = null, submitted_at = null,
           tried = ${tried as string[]}::text[], last_failure = ${lastFailure}, failures = 0,
           poll_count = poll_count + ${isNewRound ? 1 : 0}, lease_until = null,
           wake_at = case when cancel_requested_at is not null then now()
                       else now() + ${delayMs} * interval '1 millisecond' end
     where id = ${id} and fence = ${fence} and completed_at is null
    returning cancel_requested_at is not null as is_asked`;
  if (row === undefined) throw new LostLease();
  return row.is_asked ? 0 : delayMs;
}

export async function recordCancelSent(sql: Queries, { id, fence }: ClaimedRow): Promise<void> {
  const { count } = await sql`
    update task set cancel_sent_at = now()
     where id = ${id} and fence = ${fence} and completed_at is null`;
  if (count === 0) throw new LostLease();
}

/** Counts a failed download; it is tried again later. */
export async function recordDownloadFailed(
  sql: Queries,
  { id, fence }: ClaimedRow,
  reason: string,
  delayMs: number,
): Promise<void> {
  const { count } = await sql`
    update task
       set download_tries = download_tries + 1, last_failure = ${reason.slice(0, 500)},
           lease_until = null, wake_at = now() + ${delayMs} * interval '1 millisecond'
     where id = ${id} and fence = ${fence} and completed_at is null`;
  if (count === 0) throw new LostLease();
}

const FAILURES_MAX = 8;
const FAILURE_MS_MAX = 60_000;

/**
 * Records a failed step. It is repeated with growing delays; after too many failures only an operator's replay or the
 * deadline wakes the task. Returns the delay in milliseconds; null when it is not repeated.
 */
export async function recordFailure(
  sql: Queries,
  { id, fence, failures }: ClaimedRow,
  reason: string,
  mayDie: boolean,
): Promise<number | null> {
  const isDead = mayDie && failures + 1 >= FAILURES_MAX;
  const delayMs = Math.min(FAILURE_MS_MAX, 250 * 2 ** Math.min(failures, 12)) *
    (0.8 + 0.4 * Math.random());
  await sql`
    update task
       set failures = failures + 1, last_failure = ${reason.slice(0, 500)}, lease_until = null,
           dead_at = case when ${isDead} then now() end,
           wake_at = case when ${isDead} then greatest(deadline_at, now())
                       else now() + ${delayMs} * interval '1 millisecond' end
     where id = ${id} and fence = ${fence} and completed_at is null`;
  return isDead ? null : delayMs;
}
