import { ApiError } from "../../lib/api_error.ts";
import type { NextStep } from "../../platform/queue/queue.ts";
import { UpstreamFailure } from "../../upstream/failure.ts";
import { jobError } from "../../upstream/job_error.ts";
import type { JobStatus, MediaUsage, UpstreamOutput } from "../../upstream/media_adapter.ts";
import type { UpstreamAssignment } from "../../upstream/media_calls.ts";
import { copyOutputs } from "./copy_outputs.ts";
import type { TaskDeps } from "./deps.ts";
import { failTask, finishTask } from "./finish_task.ts";
import { handBack, recordCancelSent, recordDownloadFailed } from "./lease.ts";
import { failLost, findAssignedUpstream } from "./upstream_assignment.ts";
import type { MediaTask, TaskJob } from "./task.ts";
import { meterTask } from "./usage.ts";

/** Looks once how an accepted job stands; before that, passes on a wish to cancel it. */
export async function pollTask(
  deps: TaskDeps,
  task: MediaTask,
  signal: AbortSignal,
): Promise<NextStep> {
  const assignment = await findAssignedUpstream(deps, task);
  if (assignment === null) return await failLost(deps, task);
  let seen;
  try {
    seen = await cancelled(deps, task, assignment, signal) ??
      await deps.media.getStatus(assignment, task.upstream_id!, signal);
  } catch (error) {
    // A look that fails says nothing of the job.
    if (!(error instanceof UpstreamFailure)) throw error;
    return await lookLater(deps, task, assignment, null);
  }
  return await conclude(deps, task, assignment, seen, signal);
}

/** What the upstream said to the wish to cancel; null where there is none, or it did not say. */
async function cancelled(
  deps: TaskDeps,
  task: MediaTask,
  assignment: UpstreamAssignment,
  signal: AbortSignal,
): Promise<JobStatus | null> {
  if (task.cancel_requested_at === null || task.cancel_sent_at !== null) return null;
  const seen = await deps.media.cancel(assignment, task.upstream_id!, signal).catch((error) => {
    // It refuses; what it does with the job, polling will show. Unheard, the wish is repeated.
    if (error instanceof UpstreamFailure && error.received === "declined") return null;
    throw error;
  });
  await recordCancelSent(deps.database.sql, task);
  return seen;
}

/** What a look at the job means for its task. */
export async function conclude(
  deps: TaskDeps,
  task: MediaTask,
  assignment: UpstreamAssignment,
  seen: JobStatus,
  signal: AbortSignal,
): Promise<NextStep> {
  switch (seen.state) {
    case "queued":
    case "running":
      return await lookLater(deps, task, assignment, seen.progress);
    case "succeeded":
      return await succeed(deps, task, assignment, seen, signal);
    case "failed":
      return await failTask(deps, task, jobError(seen.fault.kind, seen.fault.param));
    case "cancelled":
      return await endCancelled(deps, task, assignment, seen.usage);
  }
}

/** Copies what is not copied yet; then the task is over, and what is there is paid for. */
export async function succeed(
  deps: TaskDeps,
  task: MediaTask,
  assignment: UpstreamAssignment,
  seen: { outputs: readonly UpstreamOutput[]; usage: MediaUsage | null },
  signal: AbortSignal,
): Promise<NextStep> {
  const job = task.job;
  const isRemote = seen.outputs.some((output) => "url" in output);
  const { slots } = deps.downloads;
  const slot = isRemote ? slots.enter(task.account_id, assignment.upstream.provider) : NO_SLOT;
  if (slot === null) return await lookLater(deps, task, assignment, null);
  using _ = slot;
  if (isRemote) deps.leaveSlot?.();
  const { stored: outputs, failure } = await copyOutputs(
    deps,
    task,
    assignment,
    seen.outputs,
    signal,
  );
  if (failure !== null && task.download_tries + 1 < deps.downloads.limits.tries) {
    return await downloadLater(deps, task, failure);
  }
  if (outputs.length === 0) {
    return await failTask(
      deps,
      task,
      failure === null
        ? new ApiError("upstream_failed", "The model gave no usable result: try again.")
        : new ApiError("upstream_failed", "The model's result could not be downloaded: try again."),
    );
  }
  await finishTask(deps, task, {
    status: "succeeded",
    outputs,
    ...meterTask(task.type, job, outputs, seen.usage),
    upstream: assignment.upstream,
  });
  return "done";
}

/** Results that stand in the answer itself are only written to our storage. */
const NO_SLOT: Disposable = { [Symbol.dispose]() {} };

async function downloadLater(
  deps: TaskDeps,
  task: MediaTask,
  failure: UpstreamFailure,
): Promise<NextStep> {
  const { retryMs } = deps.downloads.limits;
  const againInMs = retryMs * 4 ** Math.min(task.download_tries, 8) * (0.8 + 0.4 * Math.random());
  await recordDownloadFailed(deps.database.sql, task, failure.message, againInMs);
  return { againInMs };
}

/** Released, or what the upstream billed all the same. One that cancels by itself has failed. */
async function endCancelled(
  deps: TaskDeps,
  task: MediaTask,
  { upstream }: UpstreamAssignment,
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
  const job = task.job;
  const billed = isBilled && said !== null ? meterBilled(task, job, said) : {};
  await finishTask(deps, task, { status: "cancelled", ...billed, upstream });
  return "done";
}

function meterBilled(task: MediaTask, job: TaskJob, said: MediaUsage) {
  if (task.type !== "image") return meterTask(task.type, job, [], said);
  const asked = typeof job.parameters.n === "number" ? job.parameters.n : 1;
  const images = Math.min(asked, said.outputs ?? 0);
  return { usage: { images, calls: images }, units: images };
}

async function lookLater(
  deps: TaskDeps,
  task: MediaTask,
  assignment: UpstreamAssignment,
  progress: number | null,
): Promise<NextStep> {
  const { firstMs, maxMs } = deps.media.polling(assignment);
  const pace = Math.min(maxMs, firstMs * 1.5 ** Math.min(task.poll_count + 1, 30));
  const delayMs = pace * (0.8 + 0.4 * Math.random());
  const againInMs = await handBack(deps.database.sql, task, { delayMs, progress, hasLooked: true });
  if (progress !== null && progress > task.progress) deps.watch.changed(task.id);
  return { againInMs };
}
