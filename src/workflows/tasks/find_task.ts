import { ApiError } from "../../lib/api_error.ts";
import { StoredJsonError } from "../../lib/stored_json.ts";
import type { Queries } from "../../platform/database/database.ts";
import { parseTaskOutputs, parseTaskStages } from "./stored_task.ts";
import type { Status, TaskRow } from "./task.ts";
import type { TaskVersion } from "./task_watch.ts";

/** A task of this account; null where there is none. */
export async function findTask(
  sql: Queries,
  account: string,
  id: string,
): Promise<TaskRow | null> {
  const [row] = await sql<UnparsedTaskRow[]>`
    select ${taskColumns(sql)} from task t, ledger_find_receipts(array[t.request_id]) h
     where t.id = ${id} and t.account_id = ${account}`;
  return row === undefined ? null : toTaskRow(row);
}

export interface TaskQuery {
  account: string;
  limit: number;
  after?: string | undefined;
  order: "asc" | "desc";
  type?: string | undefined;
  status?: Status | undefined;
}

/** An account's tasks in the order they came. */
export async function listTasks(
  sql: Queries,
  { account, limit, after, order, type, status }: TaskQuery,
): Promise<{ rows: TaskRow[]; hasMore: boolean }> {
  const isAscending = order === "asc";
  const direction = isAscending ? sql`asc` : sql`desc`;
  // Ids sort by creation.
  const rows = await sql<UnparsedTaskRow[]>`
    with page as materialized (
      select * from task t
       where t.account_id = ${account}
       ${
    after === undefined ? sql`` : isAscending ? sql`and t.id > ${after}` : sql`and t.id < ${after}`
  }
       ${type === undefined ? sql`` : sql`and t.type = ${type}`}
       ${status === undefined ? sql`` : sql`and t.status = ${status}`}
       order by t.id ${direction} limit ${limit + 1})
    select ${taskColumns(sql)}
      from page t join ledger_find_receipts(array(select request_id from page)) h on h.id = t.request_id
     order by t.id ${direction}`;
  return { rows: rows.slice(0, limit).map(toTaskRow), hasMore: rows.length > limit };
}

/** What of tasks may have changed, for requests that wait for them. One that is gone is left out. */
export async function taskVersions(
  sql: Queries,
  ids: readonly string[],
): Promise<TaskVersion[]> {
  return await sql<TaskVersion[]>`
    select id, status, updated_at from task where id = any (${ids as string[]})`;
}

/**
 * Tasks of any account; the caller has checked that it may see them. A task that cannot be read is left out, so
 * that requests waiting for other tasks are not affected.
 */
export async function tasksById(
  sql: Queries,
  ids: readonly string[],
  onUnreadable: (id: string, error: StoredJsonError) => void,
): Promise<TaskRow[]> {
  const rows = await sql<UnparsedTaskRow[]>`
    with wanted as materialized (select * from task where id = any (${ids as string[]}))
    select ${taskColumns(sql)}
      from wanted t join ledger_find_receipts(array(select request_id from wanted)) h on h.id = t.request_id`;
  return rows.flatMap((row) => {
    try {
      return [toTaskRow(row)];
    } catch (error) {
      if (!(error instanceof StoredJsonError)) throw error;
      onUnreadable(row.id, error);
      return [];
    }
  });
}

/** As the database has it: the JSON columns may have been written by an earlier version of the code. */
type UnparsedTaskRow = Omit<TaskRow, "outputs" | "stages"> & { outputs: unknown; stages: unknown };

function toTaskRow(row: UnparsedTaskRow): TaskRow {
  return {
    ...row,
    outputs: parseTaskOutputs(row.outputs),
    stages: parseTaskStages(row.stages),
  };
}

export function taskNotFound(): ApiError {
  return new ApiError("task_not_found", "There is no such task.", { param: "task_id" });
}

export function taskColumns(sql: Queries) {
  return sql`
    t.id, t.account_id, t.request_id, t.client_request_id, t.type, t.model, t.status, t.progress,
    t.created_at, t.updated_at, t.started_at, t.completed_at, t.deadline_at, t.outputs, t.units,
    t.error_code, t.error_message, t.stage, t.stages,
    coalesce(t.wake_at < now() - interval '1 second', false) as is_late,
    h.state as hold_state, h.allocations, h.held, h.taken, h.shortfall, h.usage, h.price,
    h.created_at as held_at, h.resolved_at, h.key_id, h.end_user, h.metadata,
    h.endpoint`;
}
