import type { TaskDeps } from "./deps.ts";
import { type AssignedUpstream, findAssignedUpstream } from "./upstream_assignment.ts";
import { TASK } from "./task.ts";

/**
 * A provider says that something became of a job. That is only ever a bell: the job is looked at now
 * instead of later, and what the provider's own answer says then is what counts.
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
  const named = await deps.media.readCallback(assignment, body).catch(() => null);
  if (named !== null && named !== task!.upstream_id) return;
  await sql`
    update task set wake_at = now()
     where id = ${id} and phase = 'accepted' and completed_at is null
       and (lease_until is null or lease_until <= now())`;
  deps.queue.notify({ kind: TASK, id });
}
