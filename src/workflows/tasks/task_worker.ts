import { ApiError } from "../../lib/api_error.ts";
import { StoredJsonError } from "../../lib/stored_json.ts";
import { pruneIdempotencyKeys } from "../../domain/idempotency/clean.ts";
import type { JobHandler, NextStep } from "../../platform/queue/queue.ts";
import { isStorageUnavailable } from "../../platform/database/storage_error.ts";
import { describeError } from "../../platform/telemetry/log.ts";
import type { TaskDeps } from "./deps.ts";
import { finishTask } from "./finish_task.ts";
import { claimTask, dueTasks, keepLease, LostLease, recordFailure, reschedule } from "./lease.ts";
import type { MediaStep } from "./media_step.ts";
import { pollTask, succeed } from "./poll_task.ts";
import { isMediaType } from "../../model_types/model_types.ts";
import { failUnreachable, findAssignedUpstream } from "./upstream_assignment.ts";
import { recoverSubmission, submitTask } from "./submit_task.ts";
import type { ClaimedRow, ClaimedTask } from "./task.ts";
import { parseStoredResult, parseTaskJob, toClaimedTask } from "./stored_task.ts";
import { stopTask } from "./stop_task.ts";
import { tracedStep } from "./traced_step.ts";
import { cancelSubtasks } from "./subtasks.ts";

/** Runs one step of a task whose type is not one job at one upstream. */
export type TaskHandler = (
  deps: TaskDeps,
  task: ClaimedTask,
  signal: AbortSignal,
) => Promise<NextStep>;

const SLOTS = 64;
/** How often expired idempotency keys are removed. */
const PRUNE_KEYS_MS = 60_000;

/** Runs the steps of tasks. Types without a handler of their own are media jobs. */
export function taskWorker(deps: TaskDeps, handlers: ReadonlyMap<string, TaskHandler>): JobHandler {
  const { sql } = deps.database;
  let pruneKeysAt = performance.now();
  return {
    slots: SLOTS,
    async due(limit) {
      if (performance.now() >= pruneKeysAt) {
        pruneKeysAt = performance.now() + PRUNE_KEYS_MS;
        await pruneIdempotencyKeys(sql);
      }
      return await dueTasks(sql, limit);
    },
    async step(id, stop, leaveSlot) {
      const row = await claimTask(deps.changes, id);
      if (row === null) return "done";
      using lease = keepLease(deps.changes, row, stop);
      try {
        if (row.is_overdue) return await expire(deps, row, lease.signal);
        const advance = handlers.get(row.type) ?? advanceMedia;
        const stepDeps = leaveSlot ? { ...deps, leaveSlot } : deps;
        return await tracedStep(
          stepDeps,
          row,
          (traced) => advance(traced, toClaimedTask(row), lease.signal),
        );
      } catch (error) {
        return await afterError(deps, row, stop, error);
      }
    },
  };
}

async function advanceMedia(
  deps: TaskDeps,
  claimed: ClaimedTask,
  signal: AbortSignal,
): Promise<NextStep> {
  const { type } = claimed;
  if (!isMediaType(type)) throw new Error(`There is no worker for ${type} tasks`);
  const task = { ...claimed, type, job: parseTaskJob(claimed.job) };
  const step: MediaStep = { deps, task, signal };
  switch (task.phase) {
    case "submit":
      return await submitTask(step);
    case "submitting":
      return await recoverSubmission(step);
    case "accepted":
      return await pollTask(step);
    case "pipeline":
      throw new Error(`A ${task.type} is no pipeline`);
    case "copying": {
      const assignment = await findAssignedUpstream(deps, task);
      if (assignment === null) return await failUnreachable(deps, task);
      return await succeed({ ...step, assignment }, parseStoredResult(task.result));
    }
  }
}

/** Ends a task past its deadline. */
async function expire(deps: TaskDeps, task: ClaimedRow, signal: AbortSignal): Promise<NextStep> {
  const error = { code: "upstream_timeout", message: "The task was not finished in time." };
  await stopTask(deps, task, { status: "expired", error }, signal);
  return "done";
}

async function afterError(
  deps: TaskDeps,
  task: ClaimedRow,
  stop: AbortSignal,
  error: unknown,
): Promise<NextStep> {
  if (error instanceof LostLease) return "done";
  if (error instanceof StoredJsonError) return await failUnreadable(deps, task, error);
  // A full disk or an unavailable bucket is no bug: the step is repeated until the deadline.
  const isBytes = error instanceof ApiError && error.code === "storage_unavailable";
  // The failure cannot be recorded: the lease expires, and the sweeper finds the task.
  if (!isBytes && isStorageUnavailable(error)) throw error;
  if (stop.aborted) {
    // If the database is away too, the lease expires and the sweeper finds the task.
    await reschedule(deps.changes, task, { delayMs: 0 }).catch(() => undefined);
    return "done";
  }
  const reason = describeError(error);
  const againInMs = await recordFailure(deps.changes, task, reason, !isBytes);
  deps.log[againInMs === null ? "error" : "warn"]("task step failed", {
    task_id: task.id,
    phase: task.phase,
    failures: task.failures + 1,
    dead: againInMs === null,
    error: reason,
  });
  return againInMs === null ? "done" : { againInMs };
}

/** No later attempt of this version could read it: the task ends, and its hold is released. */
async function failUnreadable(
  deps: TaskDeps,
  task: ClaimedRow,
  error: StoredJsonError,
): Promise<"done"> {
  deps.log.error("stored task unreadable, task failed and hold released", {
    task_id: task.id,
    phase: task.phase,
    error,
  });
  const isEnded = await finishTask(deps, task, {
    status: "failed",
    error: {
      code: "internal_error",
      // Not a word about money: a drama that fails with its subtask passes this on, and is charged for others.
      message: "The gateway cannot continue this task: send the request again.",
    },
  });
  if (isEnded && task.phase === "pipeline") await cancelSubtasks(deps, task.id);
  return "done";
}
