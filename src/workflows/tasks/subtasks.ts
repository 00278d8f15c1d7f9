import type { TaskDeps } from "./deps.ts";
import { TASK } from "./task.ts";

/**
 * Wakes the parent of a subtask that has ended. Not in the transaction that ends the subtask: the rows are locked in
 * the other order when the parent ends. A parent also checks its subtasks at intervals.
 */
export async function wakeParent({ database, queue, log }: TaskDeps, id: string): Promise<void> {
  try {
    await database.sql`
      update task set wakeups = wakeups + 1,
                      wake_at = case when lease_until > now() then wake_at else now() end
       where id = ${id} and completed_at is null`;
    queue.notify({ kind: TASK, id });
  } catch (error) {
    log.warn("parent task not woken", { task_id: id, error });
  }
}

/** Requests the cancellation of all subtasks that have not ended, locked in order as `task_change` does. */
export async function cancelSubtasks({ database, queue }: TaskDeps, parent: string): Promise<void> {
  const asked = await database.sql<{ id: string }[]>`
    update task set cancel_requested_at = now(),
                    wake_at = case when lease_until > now() then wake_at else now() end
     where id in (select id from task
                   where parent_id = ${parent} and completed_at is null and cancel_requested_at is null
                   order by id for no key update)
    returning id`;
  for (const { id } of asked) queue.notify({ kind: TASK, id });
}
