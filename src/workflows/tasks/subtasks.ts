import type { TaskDeps } from "./deps.ts";
import { TASK } from "./task.ts";

/**
 * Tells a chain that one of its parts has ended. Not in the transaction that ends the part: the two rows
 * are locked the other way round when the chain ends, and a chain also looks by itself now and then.
 */
export async function wakeParent({ database, queue, log }: TaskDeps, id: string): Promise<void> {
  try {
    await database.sql`
      update task set wakeups = wakeups + 1,
                      wake_at = case when lease_until > now() then wake_at else now() end
       where id = ${id} and completed_at is null`;
    queue.notify({ kind: TASK, id });
  } catch (error) {
    log.warn("a chain was not told of its part", { task_id: id, error });
  }
}

/** Asks every part of a chain that still lives to end. */
export async function cancelSubtasks({ database, queue }: TaskDeps, parent: string): Promise<void> {
  const asked = await database.sql<{ id: string }[]>`
    update task set cancel_requested_at = now(),
                    wake_at = case when lease_until > now() then wake_at else now() end
     where parent_id = ${parent} and completed_at is null and cancel_requested_at is null
    returning id`;
  for (const { id } of asked) queue.notify({ kind: TASK, id });
}
