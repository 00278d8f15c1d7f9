import { newId } from "../../lib/ids.ts";
import type { ModelType } from "../../lib/model_types.ts";
import type { Usage } from "../../domain/pricing/usage.ts";
import type { JobMessage } from "../../platform/queue/queue.ts";
import type { Queries } from "../../platform/database/database.ts";
import type { TaskDeps } from "../tasks/deps.ts";
import { LostLease } from "../tasks/lease.ts";
import { type ClaimedTask, type Status, TASK } from "../tasks/task.ts";
import type { StageStatus } from "./drama.ts";

/** A part of a drama: a task of its own, without money, that its drama waits for. */
export interface SubtaskRow {
  readonly id: string;
  /** Such as `script` or `video/3`. */
  readonly part: string;
  readonly attempt: number;
  readonly model: string;
  readonly status: Status;
  readonly progress: number;
  readonly outputs: readonly unknown[];
  readonly usage: Usage | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
}

export interface NewSubtask {
  readonly part: string;
  readonly attempt: number;
  readonly type: ModelType;
  readonly model: string;
  readonly job: unknown;
}

/** How far a drama is, as its row says it. */
export interface SubtaskStatus {
  readonly stage: string;
  readonly stages: readonly StageStatus[];
  readonly progress: number;
}

/** While it waits for its parts, a drama also looks by itself this often: a bell may be lost. */
const FLOOR_MS = 5_000;

export async function readSubtasks(sql: Queries, drama: string): Promise<SubtaskRow[]> {
  return await sql<SubtaskRow[]>`
    select id, part, attempt, model, status, progress, outputs, usage, error_code, error_message
      from task where parent_id = ${drama} order by id`;
}

/**
 * Writes new parts and how the drama stands, in one transaction, and gives it back to wait. A part that is
 * there already stays as it is: making it twice makes it once.
 */
export async function createSubtasks(
  { database, queue }: TaskDeps,
  drama: ClaimedTask,
  parts: readonly NewSubtask[],
  standing: SubtaskStatus,
  deadlineOf: (model: string) => number,
): Promise<{ againInMs: number }> {
  const orders = parts.map((part) => ({
    ...part,
    id: newId("task"),
    deadline_seconds: deadlineOf(part.model),
  }));
  const [bells, againInMs] = await database.sql.begin(async (sql) => {
    const made = orders.length === 0 ? [] : await sql<{ id: string }[]>`
      insert into task (id, parent_id, part, attempt, account_id, request_id, client_request_id, type, model,
                        job, declaration, deadline_at, deadline_seconds, wake_at)
      select o.id, t.id, o.part, o.attempt, t.account_id, o.id, t.client_request_id, o.type, o.model,
             o.job, t.declaration, t.deadline_at, o.deadline_seconds, now()
        from jsonb_to_recordset(${JSON.stringify(orders)}::text::jsonb)
               as o (id text, part text, attempt int, type text, model text, job jsonb, deadline_seconds int),
             task t
       where t.id = ${drama.id} and t.fence = ${drama.fence} and t.completed_at is null
      on conflict (parent_id, part, attempt) where parent_id is not null do nothing
      returning id`;
    const messages = made.map(({ id }): JobMessage => ({ kind: TASK, id }));
    for (const message of messages) await queue.enqueueInTransaction(sql, message);
    return [messages, await noteStanding(sql, drama, standing)];
  });
  for (const bell of bells) queue.notify(bell);
  return { againInMs };
}

/** Writes how the drama stands and gives it back: at once when a part has ended meanwhile. */
async function noteStanding(
  sql: Queries,
  { id, fence, nudges }: ClaimedTask,
  { stage, stages, progress }: SubtaskStatus,
): Promise<number> {
  const [row] = await sql<{ is_nudged: boolean }[]>`
    update task
       set phase = 'chained', status = 'running', started_at = coalesce(started_at, now()),
           deadline_at = case when started_at is null
                           then now() + make_interval(secs => deadline_seconds) else deadline_at end,
           stage = ${stage}, stages = ${JSON.stringify(stages)}::text::jsonb,
           progress = greatest(progress, ${Math.min(99, Math.trunc(progress))}::smallint),
           updated_at = now(), failures = 0, lease_until = null,
           wake_at = case when nudges > ${nudges} then now()
                       else now() + ${FLOOR_MS} * interval '1 millisecond' end
     where id = ${id} and fence = ${fence} and completed_at is null
    returning nudges > ${nudges} as is_nudged`;
  if (row === undefined) throw new LostLease();
  return row.is_nudged ? 0 : FLOOR_MS;
}
