import { newId } from "../../lib/ids.ts";
import type { ModelType } from "../../model_types/model_types.ts";
import { parseStored } from "../../lib/stored_json.ts";
import { storedUsage } from "../../domain/pricing/stored_price.ts";
import type { Usage } from "../../model_types/usage.ts";
import type { JobMessage } from "../../platform/queue/queue.ts";
import type { Queries } from "../../platform/database/database.ts";
import type { TaskDeps } from "../tasks/deps.ts";
import { LostLease } from "../tasks/lease.ts";
import { parseTaskOutputs } from "../tasks/stored_task.ts";
import { type ClaimedTask, type Status, TASK, type TaskOutput } from "../tasks/task.ts";
import type { StageStatus } from "./drama.ts";

/** A subtask of a drama: a task that has no hold of its own; its drama waits for it. */
export interface SubtaskRow {
  readonly id: string;
  /** Such as `script` or `video/3`. */
  readonly subtask: string;
  readonly attempt: number;
  readonly model: string;
  readonly status: Status;
  readonly progress: number;
  readonly outputs: readonly TaskOutput[];
  readonly usage: Usage | null;
  /** provider/model that made it. */
  readonly upstream: string | null;
  /** What the upstream charges; null where it is not known. */
  readonly cost: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
}

export interface NewSubtask {
  readonly subtask: string;
  readonly attempt: number;
  readonly type: ModelType;
  readonly model: string;
  readonly job: unknown;
  readonly deadlineSeconds: number;
}

/** Progress of a drama as its row stores it. */
export interface StoredProgress {
  readonly stage: string;
  readonly stages: readonly StageStatus[];
  readonly progress: number;
}

/** A waiting drama also checks its subtasks this often: a notification may be lost. */
const FALLBACK_MS = 5_000;

export async function readSubtasks(sql: Queries, drama: string): Promise<SubtaskRow[]> {
  const rows = await sql<(Omit<SubtaskRow, "outputs" | "usage"> & Record<string, unknown>)[]>`
    select id, subtask, attempt, model, status, progress, outputs, usage, error_code, error_message,
           provider || '/' || upstream_model as upstream, cost::text
      from task where parent_id = ${drama} order by id`;
  return rows.map((row) => ({
    ...row,
    outputs: parseTaskOutputs(row.outputs),
    usage: parseStored(storedUsage.nullable(), "usage", row.usage),
  }));
}

/**
 * Writes new subtasks and the progress of the drama in one transaction, and releases the drama until a subtask
 * ends. A subtask that exists stays as it is, so that a repeated step creates nothing twice.
 */
export async function createSubtasks(
  { database, queue }: TaskDeps,
  drama: ClaimedTask,
  subtasks: readonly NewSubtask[],
  progress: StoredProgress,
): Promise<{ againInMs: number }> {
  const orders = subtasks.map(({ deadlineSeconds, ...order }) => ({
    ...order,
    id: newId("task"),
    deadline_seconds: deadlineSeconds,
  }));
  const [messages, againInMs] = await database.sql.begin(async (sql) => {
    const made = orders.length === 0 ? [] : await sql<{ id: string }[]>`
      insert into task (id, parent_id, subtask, attempt, account_id, request_id, client_request_id, type, model,
                        job, config_version, deadline_at, deadline_seconds, traceparent, wake_at)
      select o.id, t.id, o.subtask, o.attempt, t.account_id, o.id, t.client_request_id, o.type, o.model,
             o.job, t.config_version, t.deadline_at, o.deadline_seconds, t.traceparent, now()
        from jsonb_to_recordset(${JSON.stringify(orders)}::text::jsonb)
               as o (id text, subtask text, attempt int, type text, model text, job jsonb, deadline_seconds int),
             task t
       where t.id = ${drama.id} and t.fence = ${drama.fence} and t.completed_at is null
      on conflict (parent_id, subtask, attempt) where parent_id is not null do nothing
      returning id`;
    const messages = made.map(({ id }): JobMessage => ({ kind: TASK, id }));
    await queue.enqueueInTransaction(sql, messages);
    return [messages, await recordProgress(sql, drama, progress)];
  });
  for (const message of messages) queue.notify(message);
  return { againInMs };
}

/** Records progress and releases the drama; it is due at once when a subtask has ended meanwhile. */
async function recordProgress(
  sql: Queries,
  { id, fence, wakeups }: ClaimedTask,
  { stage, stages, progress }: StoredProgress,
): Promise<number> {
  const [row] = await sql<{ is_woken: boolean }[]>`
    update task
       set phase = 'pipeline', status = 'running', started_at = coalesce(started_at, now()),
           deadline_at = case when started_at is null
                           then now() + make_interval(secs => deadline_seconds) else deadline_at end,
           stage = ${stage}, stages = ${JSON.stringify(stages)}::text::jsonb,
           progress = greatest(progress, ${Math.min(99, Math.trunc(progress))}::smallint),
           updated_at = now(), failures = 0, lease_until = null,
           wake_at = case when wakeups > ${wakeups} then now()
                       else now() + ${FALLBACK_MS} * interval '1 millisecond' end
     where id = ${id} and fence = ${fence} and completed_at is null
    returning wakeups > ${wakeups} as is_woken`;
  if (row === undefined) throw new LostLease();
  return row.is_woken ? 0 : FALLBACK_MS;
}
