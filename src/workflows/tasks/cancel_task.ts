import type { Queries } from "../../platform/database/database.ts";
import type { TaskDeps } from "./deps.ts";
import { findTask, taskNotFound } from "./find_task.ts";
import { finishTask } from "./finish_task.ts";
import { isOver, TASK, type TaskRow } from "./task.ts";

/**
 * Cancels a task: at once while no upstream can have it, else the upstream is asked and the task ends
 * when that confirms. A background response ends at once: the step that makes it loses its lease, and ends its call. One
 * that is over stays as it is.
 */
export async function cancelTask(
  deps: TaskDeps,
  account: string,
  id: string,
): Promise<{ row: TaskRow; isPending: boolean }> {
  const { sql } = deps.database;
  const find = async () => {
    const row = await findTask(sql, account, id);
    if (row === null) throw taskNotFound();
    return row;
  };
  const row = await find();
  if (isOver(row.status)) return { row, isPending: false };
  const ends = row.type === "chat" ? "anytime" : "unsent";
  if (await finishTask(deps, { id, ends }, { status: "cancelled" })) {
    return { row: await find(), isPending: false };
  }
  const { count } = await sql`
    update task set cancel_requested_at = coalesce(cancel_requested_at, now()),
                    wake_at = case when lease_until > now() then wake_at else now() end
     where id = ${id} and completed_at is null`;
  if (count > 0) deps.queue.notify({ kind: TASK, id });
  const after = await find();
  return { row: after, isPending: !isOver(after.status) };
}

/** Requests the cancellation of every task of an account, locked in order as `task_change` does; returns the ids, of which the queue is to be notified. */
export async function requestCancelAll(sql: Queries, account: string): Promise<string[]> {
  const asked = await sql<{ id: string }[]>`
    update task set cancel_requested_at = now(),
                    wake_at = case when lease_until > now() then wake_at else now() end
     where id in (select id from task
                   where account_id = ${account} and completed_at is null and cancel_requested_at is null
                   order by id for no key update)
    returning id`;
  return asked.map(({ id }) => id);
}
