import { ApiError } from "../../lib/api_error.ts";
import { StoredJsonError } from "../../lib/stored_json.ts";
import { pruneIdempotencyKeys } from "../../domain/idempotency/clean.ts";
import type { JobHandler, NextStep } from "../../platform/queue/queue.ts";
import { isStorageUnavailable } from "../../platform/database/storage_error.ts";
import { describeError } from "../../platform/telemetry/log.ts";
import type { TaskDeps } from "./deps.ts";
import { finishTask } from "./finish_task.ts";
import { claimTask, dueTasks, handBack, keepLease, LostLease, recordFailure } from "./lease.ts";
import { pollTask, succeed } from "./poll_task.ts";
import { failLost, findAssignedUpstream } from "./upstream_assignment.ts";
import { recoverSubmission, submitTask } from "./submit_task.ts";
import type { ClaimedRow, ClaimedTask, MediaTask } from "./task.ts";
import { parseTaskJob, parseUpstreamResult, toClaimedTask } from "./stored_task.ts";
import { cancelSubtasks } from "./subtasks.ts";

/** One step of a task of a type that is not one job at one upstream. */
export type TaskHandler = (
  deps: TaskDeps,
  task: ClaimedTask,
  signal: AbortSignal,
) => Promise<NextStep>;

const SLOTS = 64;
/** How often keys past their time are removed. */
const FORGET_MS = 60_000;

/** Runs the steps of tasks. Types without a handler of their own are media jobs. */
export function taskWorker(deps: TaskDeps, handlers: ReadonlyMap<string, TaskHandler>): JobHandler {
  const { sql } = deps.database;
  let forgetAt = performance.now();
  return {
    slots: SLOTS,
    async due(limit) {
      if (performance.now() >= forgetAt) {
        forgetAt = performance.now() + FORGET_MS;
        await pruneIdempotencyKeys(sql);
      }
      return await dueTasks(sql, limit);
    },
    async step(id, stop, leaveSlot) {
      const row = await claimTask(sql, id);
      if (row === null) return "done";
      using lease = keepLease(sql, row, stop);
      try {
        if (row.is_overdue) return await expire(deps, row, lease.signal);
        const advance = handlers.get(row.type) ?? advanceMedia;
        const stepDeps = leaveSlot ? { ...deps, leaveSlot } : deps;
        return await advance(stepDeps, toClaimedTask(row), lease.signal);
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
  const task: MediaTask = { ...claimed, job: parseTaskJob(claimed.job) };
  switch (task.phase) {
    case "submit":
      return await submitTask(deps, task, signal);
    case "submitting":
      return await recoverSubmission(deps, task, signal);
    case "accepted":
      return await pollTask(deps, task, signal);
    case "pipeline":
      throw new Error(`A ${task.type} is no chain`);
    case "copying": {
      const assignment = await findAssignedUpstream(deps, task);
      if (assignment === null) return await failLost(deps, task);
      return await succeed(deps, task, assignment, parseUpstreamResult(task.result), signal);
    }
  }
}

/** Its time is over, whatever the upstream still does with it: nothing is charged. */
async function expire(deps: TaskDeps, task: ClaimedRow, signal: AbortSignal): Promise<NextStep> {
  // Before the end: the configuration of a task is stored for as long as it is not over.
  const assignment = await findAssignedUpstream(deps, task);
  const isEnded = await finishTask(deps, task, {
    status: "expired",
    error: { code: "upstream_timeout", message: "The task was not finished in time." },
  });
  if (isEnded && task.phase === "pipeline") await cancelSubtasks(deps, task.id);
  if (isEnded && assignment !== null && task.upstream_id !== null) {
    await deps.media.cancel(assignment, task.upstream_id, signal).catch(() => null);
  }
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
  // A full disk or a bucket that is away is nobody's bug: it is tried until there is room, or the deadline comes.
  const isBytes = error instanceof ApiError && error.code === "storage_unavailable";
  // Nothing can be written down: the lease runs out, and the sweeper comes by.
  if (!isBytes && isStorageUnavailable(error)) throw error;
  const { sql } = deps.database;
  if (stop.aborted) {
    await handBack(sql, task, { delayMs: 0 }).catch(() => undefined);
    return "done";
  }
  const reason = describeError(error);
  const againInMs = await recordFailure(sql, task, reason, !isBytes);
  deps.log[againInMs === null ? "error" : "warn"]("a step of a task broke", {
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
      message:
        "The gateway cannot continue this task. Nothing was charged: send the request again.",
    },
  });
  if (isEnded && task.phase === "pipeline") await cancelSubtasks(deps, task.id);
  return "done";
}
