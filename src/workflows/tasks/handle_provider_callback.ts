import type { TaskDeps } from "./deps.ts";
import { type AssignedUpstream, findAssignedUpstream } from "./upstream_assignment.ts";
import { TASK } from "./task.ts";

/**
 * Handles a provider's callback about a job. It only brings the next poll forward: the status that the provider
 * returns to the poll is what counts.
 */
export async function handleProviderCallback(
  deps: TaskDeps,
  id: string,
  body: unknown,
): Promise<void> {
  const { sql } = deps.database;
  const [task] = await sql<(AssignedUpstream & { upstream_id: string; config_version: string })[]>`
    select config_version, type, model, provider, upstream_model, upstream_id from task
     where id = ${id} and phase = 'accepted' and completed_at is null`;
  const assignment = task === undefined ? null : await findAssignedUpstream(deps, task);
  if (assignment === null) return;
  // A callback that cannot be read still wakes the task: the next poll asks the provider.
  const named = await deps.media.readCallback(assignment, body).catch(() => null);
  if (named !== null && named !== task!.upstream_id) return;
  await sql`
    update task set wake_at = now()
     where id = ${id} and phase = 'accepted' and completed_at is null
       and (lease_until is null or lease_until <= now())`;
  deps.queue.notify({ kind: TASK, id });
}
