import type { Queries } from "../../platform/database/database.ts";
import type { ClaimedRow, StoredOutput } from "./task.ts";
import { periodic } from "../../lib/timers.ts";
import { ignoreStorageUnavailable } from "../../platform/database/storage_error.ts";

/** Somebody else has the task now, or it is over: whatever this step still meant to do is not its to do. */
export class LostLease extends Error {
  override readonly name = "LostLease";
}

/** How long a step may be silent before others take its task over. */
const LEASE_SECONDS = 15;
const RENEW_MS = 5_000;
/** A bell may be a moment ahead of the database's clock. */
const EARLY_MS = 50;

/**
 * Takes a due task, for this process alone: the fence moves on, and only who holds the newest may change
 * the row. Null: it is not due, somebody has it, or it is over. Nobody wants a closed account's tasks.
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
      extract(epoch from now() - t.submitted_at)::float8 as sent_seconds,
      h.price, h.kind`;
  return task ?? null;
}

/** Ids of tasks that are due, longest first. */
export async function dueTasks(sql: Queries, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from task where wake_at <= now() order by wake_at limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Keeps a claimed task until disposed. `signal` aborts when it was lost, or when `stop` does. */
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

/** Told durably before it happens: whoever finds this knows that an upstream may have the job. */
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

/** The upstream has it: from here on the model's deadline counts. The lease stays. */
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

/** Results that the upstream tells once: kept until they are copied. */
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

/** One result is ours now. A place that was filled stays as it is. */
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
  /** A look went by: the next one comes later. */
  hasLooked?: boolean;
}

/** Gives the task back to be looked at later; at once where somebody asked to cancel it meanwhile. */
export async function handBack(
  sql: Queries,
  { id, fence }: ClaimedRow,
  { delayMs, progress = null, hasLooked = false }: TaskWait,
): Promise<number> {
  const moved = progress === null ? null : Math.max(0, Math.min(99, Math.trunc(progress)));
  const [row] = await sql<{ is_asked: boolean }[]>`
    update task
       set progress = greatest(progress, ${moved}::smallint),
           updated_at = case when ${moved}::smallint > progress then now() else updated_at end,
           poll_count = poll_count + ${hasLooked ? 1 : 0}, failures = 0, lease_until = null,
           wake_at = case when cancel_requested_at is not null and cancel_sent_at is null
                             and phase in ('submit', 'accepted')
                       then now() else now() + ${delayMs} * interval '1 millisecond' end
     where id = ${id} and fence = ${fence} and completed_at is null
    returning cancel_requested_at is not null and cancel_sent_at is null
                and phase in ('submit', 'accepted') as is_asked`;
  if (row === undefined) throw new LostLease();
  return row.is_asked ? 0 : delayMs;
}

/** An upstream may have the job: it is looked for before anything else. */
export async function handBackUnclear(
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

/** Certainly nobody has it: it goes back to be submitted, elsewhere or later. */
export async function handBackUnsent(
  sql: Queries,
  { id, fence }: ClaimedRow,
  { tried, lastFailure, delayMs, isNewRound }: {
    tried: readonly string[];
    lastFailure: string | null;
    delayMs: number;
    isNewRound: boolean;
  },
): Promise<void> {
  const { count } = await sql`
    update task
       set phase = 'submit', provider = null, upstream_model = null, submitted_at = null,
           tried = ${tried as string[]}::text[], last_failure = ${lastFailure},
           poll_count = poll_count + ${isNewRound ? 1 : 0}, lease_until = null,
           wake_at = now() + ${delayMs} * interval '1 millisecond'
     where id = ${id} and fence = ${fence} and completed_at is null`;
  if (count === 0) throw new LostLease();
}

export async function recordCancelSent(sql: Queries, { id, fence }: ClaimedRow): Promise<void> {
  const { count } = await sql`
    update task set cancel_sent_at = now()
     where id = ${id} and fence = ${fence} and completed_at is null`;
  if (count === 0) throw new LostLease();
}

/** A result could not be downloaded: counted, and tried again after a while. */
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
 * A step broke. It is tried again, later each time; after too many times only an operator's word or the
 * deadline wakes the task. Says in how many milliseconds to come again; null: not by itself.
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
