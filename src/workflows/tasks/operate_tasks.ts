import { ApiError } from "../../lib/api_error.ts";
import type { Queries } from "../../platform/database/database.ts";
import type { TaskDeps } from "./deps.ts";
import { TASK } from "./task.ts";

/** `dead`: waits for an operator. `failing`: its last step failed. `late`: due for a while and not claimed. */
export const TASK_PROBLEMS = ["dead", "failing", "late"] as const;
export type TaskProblem = (typeof TASK_PROBLEMS)[number];

export interface OperatorQuery {
  limit: number;
  after?: string | undefined;
  order: "asc" | "desc";
  account?: string | undefined;
  type?: string | undefined;
  status?: string | undefined;
  /** Stuck ones; those that are parts of a chain too. */
  problem?: TaskProblem | undefined;
  /** The parts of this chain. Without it, and without a problem, parts are left out. */
  parent?: string | undefined;
}

/** A task as an operator sees it: also who has it, and what went wrong. */
export interface OperatorTask {
  id: string;
  object: "operator.task";
  account: string;
  request_id: string;
  client_request_id: string | null;
  /** Of a part: the task it belongs to, and as what. */
  parent: string | null;
  subtask: string | null;
  type: string;
  model: string;
  status: string;
  progress: number;
  phase: string;
  provider: string | null;
  upstream_model: string | null;
  upstream_id: string | null;
  error: { code: string; message: string } | null;
  failures: number;
  last_failure: string | null;
  config_version: string;
  created_at: Date;
  started_at: Date | null;
  completed_at: Date | null;
  deadline_at: Date;
  wake_at: Date | null;
  lease_until: Date | null;
  cancel_requested_at: Date | null;
  dead_at: Date | null;
}

export async function listForOperator(
  sql: Queries,
  { limit, after, order, account, type, status, problem, parent }: OperatorQuery,
): Promise<{ data: OperatorTask[]; hasMore: boolean }> {
  const isAscending = order === "asc";
  const rows = await sql<OperatorTask[]>`
    select ${operatorColumns(sql)} from task t
     where ${
    parent !== undefined
      ? sql`t.parent_id = ${parent}`
      : problem !== undefined
      ? sql`true`
      : sql`t.parent_id is null`
  }
       ${
    after === undefined ? sql`` : isAscending ? sql`and t.id > ${after}` : sql`and t.id < ${after}`
  }
       ${account === undefined ? sql`` : sql`and t.account_id = ${account}`}
       ${type === undefined ? sql`` : sql`and t.type = ${type}`}
       ${status === undefined ? sql`` : sql`and t.status = ${status}`}
       ${problem === "dead" ? sql`and t.dead_at is not null` : sql``}
       ${
    problem === "failing"
      ? sql`and t.wake_at is not null and (t.failures > 0 or t.download_tries > 0)`
      : sql``
  }
       ${problem === "late" ? sql`and t.wake_at < now() - interval '30 seconds'` : sql``}
     order by t.id ${isAscending ? sql`asc` : sql`desc`} limit ${limit + 1}`;
  return { data: rows.slice(0, limit), hasMore: rows.length > limit };
}

export async function findForOperator(sql: Queries, id: string): Promise<OperatorTask> {
  const [row] = await sql<OperatorTask[]>`select ${
    operatorColumns(sql)
  } from task t where t.id = ${id}`;
  if (row === undefined) {
    throw new ApiError("task_not_found", `There is no task ${JSON.stringify(id)}.`);
  }
  return row;
}

/**
 * Wakes a task that has not ended, resets its failures and extends its deadline. Harmless to a task without problems:
 * a process that has claimed it keeps its lease.
 */
export async function replayTask(deps: TaskDeps, id: string): Promise<OperatorTask> {
  const { sql } = deps.database;
  // Under what is in force now: what an operator mends before a replay, they mend there. A job at a provider
  // that is not in it can only be found with the configuration it began under.
  const { version, providers } = deps.currentConfig();
  const { count } = await sql`
    update task
       set dead_at = null, failures = 0, download_tries = 0,
           config_version = case when provider is null or provider = any(${[...providers.keys()]})
                         then ${version} else config_version end,
           wake_at = case when lease_until > now() then wake_at else now() end,
           deadline_at = greatest(deadline_at, now() + make_interval(secs => deadline_seconds))
     where id = ${id} and completed_at is null`;
  const task = await findForOperator(sql, id);
  if (count === 0) {
    throw new ApiError("invalid_value", `The task is over (${task.status}): that is final.`);
  }
  deps.queue.notify({ kind: TASK, id });
  return task;
}

/** Active tasks by status, those that wait for an operator, and how late the latest is. */
export async function countTasks(
  sql: Queries,
): Promise<{ queued: number; running: number; dead: number; late_seconds: number }> {
  const [row] = await sql<
    [{ queued: number; running: number; dead: number; late_seconds: number }]
  >`
    select count(*) filter (where status = 'queued')::int as queued,
           count(*) filter (where status = 'running')::int as running,
           count(*) filter (where dead_at is not null)::int as dead,
           coalesce(greatest(0, extract(epoch from now() - min(wake_at))), 0)::float8 as late_seconds
      from task where wake_at is not null`;
  return row;
}

function operatorColumns(sql: Queries) {
  return sql`
    t.id, 'operator.task' as object, t.account_id as account, t.request_id, t.client_request_id,
    t.parent_id as parent, t.subtask, t.type, t.model, t.status, t.progress, t.phase, t.provider, t.upstream_model, t.upstream_id,
    case when t.error_code is not null
      then jsonb_build_object('code', t.error_code, 'message', t.error_message) end as error,
    t.failures, t.last_failure, t.config_version, t.created_at, t.started_at, t.completed_at, t.deadline_at,
    t.wake_at, t.lease_until, t.cancel_requested_at, t.dead_at`;
}
