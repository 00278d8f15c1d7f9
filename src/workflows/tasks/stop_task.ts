import type { TaskDeps } from "./deps.ts";
import { type Ending, type Finishing, finishTask } from "./finish_task.ts";
import { cancelSubtasks } from "./subtasks.ts";
import type { ClaimedRow } from "./task.ts";
import { type AssignedUpstream, findAssignedUpstream } from "./upstream_assignment.ts";

/** A task that an upstream may still work on. */
export type RunningTask =
  & Finishing
  & AssignedUpstream
  & Pick<ClaimedRow, "phase" | "upstream_id" | "config_version">;

/** Ends a task, whatever its upstream still does: nothing is charged. False where it had ended before. */
export async function stopTask(
  deps: TaskDeps,
  task: RunningTask,
  ending: Pick<Ending, "status" | "error">,
  signal: AbortSignal,
): Promise<boolean> {
  // First: the configuration of a task is stored only until the task ends.
  const assignment = await findAssignedUpstream(deps, task);
  const isEnded = await finishTask(deps, task, ending);
  if (isEnded && task.phase === "pipeline") await cancelSubtasks(deps, task.id);
  if (isEnded && assignment !== null && task.upstream_id !== null) {
    // Best effort: the task has ended, and the job expires at its provider.
    await deps.media.cancel(assignment, task.upstream_id, signal).catch(() => null);
  }
  return isEnded;
}

/** Cancels the task of a request that nothing waits for any more; nothing is charged. False where it had ended. */
export async function abandonTask(
  deps: TaskDeps,
  requestId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const [task] = await deps.database.sql<Omit<RunningTask, "ends">[]>`
    select id, type, model, provider, upstream_model, upstream_id, config_version, phase
      from task where request_id = ${requestId} and completed_at is null`;
  if (task === undefined) return false;
  return await stopTask(deps, { ...task, ends: "anytime" }, { status: "cancelled" }, signal);
}
