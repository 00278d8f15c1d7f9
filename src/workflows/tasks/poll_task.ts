import { ApiError } from "../../lib/api_error.ts";
import type { NextStep } from "../../platform/queue/queue.ts";
import { UpstreamFailure } from "../../upstream/failure.ts";
import { jobError } from "../../upstream/job_error.ts";
import type { JobStatus, MediaUsage, UpstreamOutput } from "../../upstream/media_adapter.ts";
import { type Copied, copyOutputs } from "./copy_outputs.ts";
import { failTask, finishTask } from "./finish_task.ts";
import { recordCancelSent, recordDownloadFailed, reschedule } from "./lease.ts";
import type { AssignedStep, MediaStep } from "./media_step.ts";
import { failUnreachable, findAssignedUpstream } from "./upstream_assignment.ts";
import { mediaDefinitionOf } from "../../model_types/model_types.ts";

/** Polls an accepted job once; before that, passes on a cancellation request. */
export async function pollTask(unassigned: MediaStep): Promise<NextStep> {
  const { deps, task, signal } = unassigned;
  const assignment = await findAssignedUpstream(deps, task);
  if (assignment === null) return await failUnreachable(deps, task);
  const step: AssignedStep = { ...unassigned, assignment };
  let seen;
  try {
    seen = await cancelled(step) ??
      await deps.media.getStatus(assignment, task.upstream_id!, signal);
  } catch (error) {
    // A failed poll says nothing about the job.
    if (!(error instanceof UpstreamFailure)) throw error;
    return await schedulePoll(step, null);
  }
  return await conclude(step, seen);
}

/** Sends a pending cancellation; returns the status from the upstream's response, null where there is none. */
async function cancelled(
  { deps, task, assignment, signal }: AssignedStep,
): Promise<JobStatus | null> {
  if (task.cancel_requested_at === null || task.cancel_sent_at !== null) return null;
  const seen = await deps.media.cancel(assignment, task.upstream_id!, signal).catch((error) => {
    // The upstream declines: polling will show the outcome. Other failures are repeated.
    if (error instanceof UpstreamFailure && error.received === "declined") return null;
    throw error;
  });
  await recordCancelSent(deps.changes, task);
  return seen;
}

/** Applies the status of a job to its task. */
export async function conclude(step: AssignedStep, seen: JobStatus): Promise<NextStep> {
  switch (seen.state) {
    case "queued":
    case "running":
      return await schedulePoll(step, seen.progress);
    case "succeeded":
      return await succeed(step, seen);
    case "failed":
      return await failTask(step.deps, step.task, jobError(seen.fault.kind, seen.fault.param));
    case "cancelled":
      return await endCancelled(step, seen.usage);
  }
}

/** Copies the results that are not copied yet, then ends the task and charges for them. */
export async function succeed(
  step: AssignedStep,
  seen: { outputs: readonly UpstreamOutput[]; usage: MediaUsage | null },
): Promise<NextStep> {
  const { deps, task, assignment } = step;
  const copied = await copyInSlot(step, seen.outputs);
  if (copied === null) return await schedulePoll(step, null);
  const { stored: outputs, failure } = copied;
  if (failure !== null && task.download_tries + 1 < deps.downloads.limits.tries) {
    return await scheduleDownload(step, failure);
  }
  if (outputs.length === 0) return await failWithoutOutputs(step, seen, failure);
  await finishTask(deps, task, {
    status: "succeeded",
    outputs,
    ...mediaDefinitionOf(task.type).meter(task.job, { outputs, reported: seen.usage }),
    upstream: assignment.upstream,
  });
  return "done";
}

/** The upstream charges for what it made: a drama records that as a cost of its own. Clients are not charged. */
async function failWithoutOutputs(
  { deps, task, assignment: { upstream } }: AssignedStep,
  { outputs, usage: reported }: { outputs: readonly UpstreamOutput[]; usage: MediaUsage | null },
  failure: UpstreamFailure | null,
): Promise<NextStep> {
  const message = failure === null
    ? "The model gave no usable result: try again."
    : "The model's result could not be downloaded: try again.";
  const made = task.parent_id === null || failure === null
    ? {}
    : mediaDefinitionOf(task.type).meter(task.job, { outputs: outputs.map(() => ({})), reported });
  const error = { code: "upstream_failed", message };
  await finishTask(deps, task, { status: "failed", error, ...made, units: 0, upstream });
  return "done";
}

/** Copies results that must be downloaded while it has a slot for that; null if there is none for a while. */
async function copyInSlot(
  step: AssignedStep,
  outputs: readonly UpstreamOutput[],
): Promise<Copied | null> {
  const { deps, task, assignment, signal } = step;
  // Results in the response itself need no download.
  if (!outputs.some((output) => "url" in output)) return await copyOutputs(step, outputs);
  deps.leaveSlot?.();
  const { slots, limits: { waitMs } } = deps.downloads;
  const { provider } = assignment.upstream;
  using slot = await slots.acquire(task.account_id, provider, { waitMs, signal });
  return slot === null ? null : await copyOutputs(step, outputs);
}

async function scheduleDownload(
  { deps, task }: AssignedStep,
  failure: UpstreamFailure,
): Promise<NextStep> {
  const { retryMs } = deps.downloads.limits;
  const againInMs = retryMs * 4 ** Math.min(task.download_tries, 8) * (0.8 + 0.4 * Math.random());
  await recordDownloadFailed(deps.changes, task, failure.message, againInMs);
  return { againInMs };
}

/** Releases the hold, or charges what the upstream billed. Without a request, a cancelled job has failed. */
async function endCancelled(
  { deps, task, assignment: { upstream } }: AssignedStep,
  said: MediaUsage | null,
): Promise<NextStep> {
  if (task.cancel_requested_at === null) {
    return await failTask(
      deps,
      task,
      new ApiError("upstream_failed", "The model gave up: try again."),
    );
  }
  const isBilled = (said?.durationMs ?? 0) > 0 || (said?.outputs ?? 0) > 0;
  const billed = isBilled
    ? mediaDefinitionOf(task.type).meter(task.job, { outputs: null, reported: said })
    : {};
  await finishTask(deps, task, { status: "cancelled", ...billed, upstream });
  return "done";
}

async function schedulePoll(
  { deps, task, assignment }: AssignedStep,
  progress: number | null,
): Promise<NextStep> {
  const { firstMs, maxMs } = deps.media.polling(assignment);
  const pace = Math.min(maxMs, firstMs * 1.5 ** Math.min(task.poll_count + 1, 30));
  const delayMs = pace * (0.8 + 0.4 * Math.random());
  const againInMs = await reschedule(deps.changes, task, {
    delayMs,
    progress,
    hasPolled: true,
  });
  if (progress !== null && progress > task.progress) deps.watch.changed(task.id);
  return { againInMs };
}
