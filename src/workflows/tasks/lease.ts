import type { Queries } from "../../platform/database/database.ts";
import type { ClaimedRow, StoredOutput } from "./task.ts";
import { periodic } from "../../lib/timers.ts";
import { ignoreStorageUnavailable } from "../../platform/database/storage_error.ts";
import { toAttemptRow } from "../../domain/requests/request_row.ts";
import type { UpstreamAttempt } from "../../upstream/upstream_attempt.ts";
import type { TaskWatch } from "./task_watch.ts";
import type { ChangedTask, ChangeFields, ChangeKind, TaskChanges } from "./task_changes.ts";

/** Another process has claimed the task, or it has ended: this step must not change it any more. */
export class LostLease extends Error {
  override readonly name = "LostLease";
}

const RENEW_MS = 5_000;

/**
 * Claims a due task for this process: the fence is incremented, and only the holder of the newest fence may change the
 * row. Null: the task is not due, is claimed, or has ended. Tasks of a closed account are cancelled.
 */
export async function claimTask(changes: TaskChanges, id: string): Promise<ClaimedRow | null> {
  return (await changes.add({ kind: "claim", id }))?.claimed ?? null;
}

/** Ids of due tasks, longest due first. */
export async function dueTasks(sql: Queries, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from task where wake_at <= now() order by wake_at limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Renews the lease until disposed. `signal` aborts when the lease is lost, or when `stop` aborts. */
export function keepLease(
  changes: TaskChanges,
  { id, fence }: ClaimedRow,
  stop: AbortSignal,
): Disposable & { readonly signal: AbortSignal } {
  const lost = new AbortController();
  const renewing = periodic(async () => {
    const renewed = await changes.add({ kind: "renew", id, fence });
    if (renewed === null) lost.abort(new LostLease());
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

/**
 * Notices at once that the lease of a long step is lost, where `keepLease` would at its next renewal: a cancelled call is
 * not to go on at its upstream.
 */
export function noticeLostLease(
  { changes, watch }: { changes: TaskChanges; watch: Pick<TaskWatch, "watchStep"> },
  { id, fence }: ClaimedRow,
  signal: AbortSignal,
): Disposable & { readonly signal: AbortSignal } {
  const lost = new AbortController();
  const look = async () => {
    const renewed = await changes.add({ kind: "renew", id, fence });
    if (renewed === null) lost.abort(new LostLease());
  };
  // Where it fails, the next renewal tells.
  const watching = watch.watchStep(id, () => void look().catch(() => undefined));
  return {
    signal: AbortSignal.any([lost.signal, signal]),
    [Symbol.dispose]: () => watching[Symbol.dispose](),
  };
}

/** Throws `LostLease` where the claim is not the newest any more. */
async function change<Kind extends ChangeKind>(
  changes: TaskChanges,
  { id, fence }: ClaimedRow,
  kind: Kind,
  fields: ChangeFields[Kind],
): Promise<ChangedTask> {
  const changed = await changes.add({ ...fields, kind, id, fence });
  if (changed === null) throw new LostLease();
  return changed;
}

/** Recorded before the request is sent: after a crash it is known that an upstream may have the job. */
export async function recordSubmitting(
  changes: TaskChanges,
  task: ClaimedRow,
  { provider, model }: { provider: string; model: string },
): Promise<void> {
  await change(changes, task, "submitting", { provider, upstream_model: model });
}

/** Recorded before an upstream is called that answers within the call; `lastFailure` is that of the call before. */
export async function recordCalling(
  changes: TaskChanges,
  task: ClaimedRow,
  { provider, model }: { provider: string; model: string },
  lastFailure: string | null,
): Promise<void> {
  await change(changes, task, "calling", {
    provider,
    upstream_model: model,
    last_failure: lastFailure,
  });
}

/** Calls that answered, or failed, within the step. */
export async function recordCalled(
  changes: TaskChanges,
  task: ClaimedRow,
  attempts: readonly UpstreamAttempt[],
): Promise<void> {
  if (attempts.length === 0) return;
  await change(changes, task, "called", { attempts: attempts.map(toAttemptRow) });
}

/** The upstream has accepted the job: the model's deadline starts. The lease stays. */
export async function recordAccepted(
  changes: TaskChanges,
  task: ClaimedRow,
  upstreamId: string,
): Promise<void> {
  await change(changes, task, "accepted", { upstream_id: upstreamId });
}

/** The same, and releases the task until its first poll; due at once when a cancellation was requested meanwhile. */
export async function recordRunning(
  changes: TaskChanges,
  task: ClaimedRow,
  upstreamId: string,
  { delayMs, progress = null }: TaskWait,
): Promise<number> {
  const { is_asked } = await change(changes, task, "accepted", {
    upstream_id: upstreamId,
    delay_ms: delayMs,
    progress: wholePercent(progress),
  });
  return is_asked ? 0 : delayMs;
}

/** Stores results that the upstream returns only once, until they are copied. */
export async function recordResult(
  changes: TaskChanges,
  task: ClaimedRow,
  result: unknown,
): Promise<void> {
  await change(changes, task, "result", { result });
}

/** Records a copied result. An index that has a result keeps it. */
export async function recordOutput(
  changes: TaskChanges,
  task: ClaimedRow,
  output: StoredOutput,
): Promise<void> {
  await change(changes, task, "output", { output });
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
  changes: TaskChanges,
  task: ClaimedRow,
  { delayMs, progress = null, hasPolled = false }: TaskWait,
): Promise<number> {
  const { is_asked } = await change(changes, task, "wait", {
    delay_ms: delayMs,
    progress: wholePercent(progress),
    polls: hasPolled ? 1 : 0,
  });
  return is_asked ? 0 : delayMs;
}

/** Not 100: that is the progress of a task that has succeeded. */
function wholePercent(progress: number | null): number | null {
  return progress === null ? null : Math.max(0, Math.min(99, Math.trunc(progress)));
}

/** An upstream may have the job: the next step looks it up first. */
export async function rescheduleUnclear(
  changes: TaskChanges,
  task: ClaimedRow,
  { lastFailure, delayMs }: { lastFailure: string; delayMs: number },
): Promise<void> {
  await change(changes, task, "unclear", { last_failure: lastFailure, delay_ms: delayMs });
}

/**
 * No upstream has the job: it will be submitted to another one, or later; due at once when a cancellation was
 * requested meanwhile. Returns the delay in milliseconds.
 */
export async function rescheduleUnsent(
  changes: TaskChanges,
  task: ClaimedRow,
  { tried, lastFailure, delayMs, isNewRound = false }: {
    tried: readonly string[];
    lastFailure: string | null;
    delayMs: number;
    isNewRound?: boolean;
  },
): Promise<number> {
  const { is_asked } = await change(changes, task, "unsent", {
    tried,
    last_failure: lastFailure,
    delay_ms: delayMs,
    polls: isNewRound ? 1 : 0,
  });
  return is_asked ? 0 : delayMs;
}

export async function recordCancelSent(changes: TaskChanges, task: ClaimedRow): Promise<void> {
  await change(changes, task, "cancel_sent", {});
}

/** Counts a failed download; it is tried again later. */
export async function recordDownloadFailed(
  changes: TaskChanges,
  task: ClaimedRow,
  reason: string,
  delayMs: number,
): Promise<void> {
  await change(changes, task, "download_failed", {
    last_failure: reason.slice(0, 500),
    delay_ms: delayMs,
  });
}

const FAILURES_MAX = 8;
const FAILURE_MS_MAX = 60_000;

/**
 * Records a failed step. It is repeated with growing delays; after too many failures only an operator's replay or the
 * deadline wakes the task. Returns the delay in milliseconds; null when it is not repeated.
 */
export async function recordFailure(
  changes: TaskChanges,
  { id, fence, failures }: ClaimedRow,
  reason: string,
  mayDie: boolean,
): Promise<number | null> {
  const isDead = mayDie && failures + 1 >= FAILURES_MAX;
  const delayMs = Math.min(FAILURE_MS_MAX, 250 * 2 ** Math.min(failures, 12)) *
    (0.8 + 0.4 * Math.random());
  const fields: ChangeFields["failure"] = {
    last_failure: reason.slice(0, 500),
    delay_ms: isDead ? null : delayMs,
  };
  // A step that has lost its lease has nothing to record.
  await changes.add({ kind: "failure", id, fence, ...fields });
  return isDead ? null : delayMs;
}
