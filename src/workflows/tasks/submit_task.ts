import { ApiError } from "../../lib/api_error.ts";
import type { NextStep } from "../../platform/queue/queue.ts";
import { type AttemptKind, upstreamName } from "../../upstream/admission.ts";
import { type FailureKind, UpstreamFailure } from "../../upstream/failure.ts";
import { decideFallback, untilAvailableMs, untilNextRoundMs } from "../../upstream/fallback.ts";
import { jobError } from "../../upstream/job_error.ts";
import type { JobStatus, MediaInput, MediaJob, Submitted } from "../../upstream/media_adapter.ts";
import type { TaskDeps } from "./deps.ts";
import { failTask, finishTask } from "./finish_task.ts";
import {
  recordAccepted,
  recordResult,
  recordRunning,
  recordSubmitting,
  reschedule,
  rescheduleUnclear,
  rescheduleUnsent,
} from "./lease.ts";
import { isPublic, loadInputs } from "./load_inputs.ts";
import type { AssignedStep, MediaStep } from "./media_step.ts";
import { conclude } from "./poll_task.ts";
import {
  configForTask,
  failUnreachable,
  findAssignedUpstream,
  modelGone,
} from "./upstream_assignment.ts";
import type { MediaTask } from "./task.ts";

/** How long a submission with an unclear outcome is looked up before "not found" is accepted. */
export interface SubmissionTiming {
  /** After an error response: the time until a job that was accepted all the same can be found. */
  answeredSeconds: number;
  /** Without a response: the time after the upstream's timeout, within which it may still accept the job. */
  unansweredSeconds: number;
  /** The first delay between two lookups. */
  lookupMs: number;
}

export const SUBMISSION_TIMING: SubmissionTiming = {
  answeredSeconds: 10,
  unansweredSeconds: 15,
  lookupMs: 2_000,
};
/** The delay between lookups grows up to this. */
const LOOKUP_MS_MAX = 15_000;
/** Failures that are recorded after an unclear response of the provider. */
const ANSWERED: ReadonlySet<string | null> = new Set<FailureKind>([
  "failed",
  "overloaded",
  "rate_limited",
  "unauthorized",
  "rejected",
  "too_long",
  "unreadable",
]);
const UNANSWERED: FailureKind = "cut";

/** Another request took the last slot between the choice and the call. */
const NO_PLACE_MS = 1_000;
/** How long a request that waits for its task lets it wait for an upstream. */
export const PATIENCE_MS = 10_000;

/** Submits a job to an upstream that can take it now. */
export async function submitTask(step: MediaStep): Promise<NextStep> {
  const { deps, task } = step;
  if (task.cancel_requested_at !== null) {
    await finishTask(deps, task, { status: "cancelled" });
    return "done";
  }
  const config = await configForTask(deps, task.config_version, task.model);
  const model = config.models.get(task.model);
  if (model === undefined) return await failTask(deps, task, modelGone());
  // In the first round the job has not failed at any upstream that is tried now.
  const attempt = task.poll_count === 0 ? "first" : "retry";
  const choice = deps.media.choose(config, model, task.tried, attempt);
  if (choice.upstream === null) {
    return choice.retryAfterMs === null
      ? await nextRound(deps, task)
      : await awaitUpstream(deps, task, choice.retryAfterMs);
  }
  const assignment = {
    ...{ config, model, upstream: choice.upstream },
    subject: { task_id: task.id },
    span: deps.span ?? null,
  };
  return await submitTo({ ...step, assignment }, attempt);
}

/** Submits a job to its upstream. The attempt is recorded before it is sent. */
async function submitTo(step: AssignedStep, attempt: AttemptKind): Promise<NextStep> {
  const { deps, task, assignment, signal } = step;
  let inputs;
  try {
    inputs = await loadInputs(step);
  } catch (error) {
    // The client's file was deleted or its URL cannot be used: no other upstream would help.
    if (error instanceof ApiError && !error.isServerError) return await failTask(deps, task, error);
    throw error;
  }
  await recordSubmitting(deps.changes, task, assignment.upstream);
  let submitted;
  try {
    submitted = await deps.media.submit(assignment, upstreamJob(step, inputs), signal, attempt);
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return await afterFailure(step, error);
  }
  return await afterResponse(step, submitted);
}

/** The job as its upstream receives it. */
function upstreamJob(
  { deps, task, assignment }: AssignedStep,
  inputs: readonly MediaInput[],
): MediaJob {
  const { prompt, parameters } = task.job;
  const { seconds_max: _, ...asked } = parameters;
  return {
    type: task.type,
    reference: task.id,
    prompt,
    parameters: asked,
    inputs,
    callbackUrl: isPublic(assignment.config) ? deps.files.callbackUrl(task.id, Date.now()) : null,
  };
}

/** Applies the upstream's response to a submission. */
async function afterResponse(step: AssignedStep, { id, status }: Submitted): Promise<NextStep> {
  const { deps, task } = step;
  if (id !== null) return await accepted(step, id, status);
  if (status.state === "failed") {
    return await afterFailure(
      step,
      new UpstreamFailure(status.fault.kind, "the job failed at once", {
        param: status.fault.param,
        received: "declined",
      }),
    );
  }
  // Bytes are copied at once; URLs are recorded, so that a crash does not lose them.
  if (status.state === "succeeded" && status.outputs.every((output) => "url" in output)) {
    await recordResult(deps.changes, task, { outputs: status.outputs, usage: status.usage });
  }
  return await conclude(step, status);
}

/** Continues a job that its upstream knows by `id`; `seen` is its status, if the response has one. */
async function accepted(step: AssignedStep, id: string, seen?: JobStatus): Promise<NextStep> {
  const { deps, task, assignment } = step;
  if (seen !== undefined && seen.state !== "queued" && seen.state !== "running") {
    await recordAccepted(deps.changes, task, id);
    deps.watch.changed(task.id);
    return await conclude({ ...step, task: { ...task, upstream_id: id } }, seen);
  }
  const delayMs = deps.media.polling(assignment).firstMs;
  const progress = seen?.progress ?? null;
  const againInMs = await recordRunning(deps.changes, task, id, { delayMs, progress });
  deps.watch.changed(task.id);
  return { againInMs };
}

async function afterFailure(
  { deps, task, assignment }: AssignedStep,
  failure: UpstreamFailure,
): Promise<NextStep> {
  const { changes } = deps;
  switch (decideFallback(failure, "once")) {
    case "look_up": {
      const lastFailure = failure.hasProviderResponse ? failure.kind : UNANSWERED;
      if (!deps.media.canFind(assignment)) {
        return await failTask(deps, task, answerLost(lastFailure));
      }
      const delayMs = deps.timing.lookupMs;
      await rescheduleUnclear(changes, task, { lastFailure, delayMs });
      return { againInMs: delayMs };
    }
    case "fail":
      return await failTask(deps, task, jobError(failure.kind, failure.options.param));
    case "wait":
      return await awaitUpstream(deps, task, NO_PLACE_MS);
    case "next":
      return {
        againInMs: await rescheduleUnsent(changes, task, {
          tried: [...task.tried, upstreamName(assignment.upstream)],
          lastFailure: failure.kind,
          delayMs: 0,
        }),
      };
  }
}

/** No upstream can be called now. A request that waits for the task is not kept for long. */
async function awaitUpstream(
  deps: TaskDeps,
  task: MediaTask,
  retryAfterMs: number,
): Promise<NextStep> {
  const delayMs = untilAvailableMs(task.poll_count, retryAfterMs);
  if (task.job.is_awaited === true && task.age_seconds * 1000 + delayMs > PATIENCE_MS) {
    return await failTask(
      deps,
      task,
      new ApiError("upstream_failed", "No upstream was available in time. Try again."),
    );
  }
  const { tried, last_failure: lastFailure } = task;
  const waiting = { tried, lastFailure, delayMs };
  return { againInMs: await rescheduleUnsent(deps.changes, task, waiting) };
}

/** Every upstream has failed the job: all are tried again later, unless a request waits for the task. */
async function nextRound(deps: TaskDeps, task: MediaTask): Promise<NextStep> {
  const kind = (task.last_failure ?? "failed") as FailureKind;
  const delayMs = task.job.is_awaited === true ? null : untilNextRoundMs(task.poll_count, kind);
  if (delayMs === null) return await failTask(deps, task, jobError(kind));
  return {
    againInMs: await rescheduleUnsent(deps.changes, task, {
      tried: [],
      lastFailure: kind,
      delayMs,
      isNewRound: true,
    }),
  };
}

/**
 * Resolves a submission with an unknown outcome: its response was lost or was a server error, or the process died. The
 * job is looked up by the gateway's reference and never submitted again without a lookup. Found, it continues; not
 * found when the upstream can no longer accept it, it is submitted again; where the upstream has no lookup, the task
 * fails and nothing is charged.
 */
export async function recoverSubmission(step: MediaStep): Promise<NextStep> {
  const { deps, task, signal } = step;
  const { changes } = deps;
  const assignment = await findAssignedUpstream(deps, task);
  if (assignment === null) return await failUnreachable(deps, task);
  let found;
  try {
    found = await deps.media.find(assignment, task.id, signal);
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return { againInMs: await reschedule(changes, task, { delayMs: untilNextLookup(deps, task) }) };
  }
  const isAnswered = ANSWERED.has(task.last_failure);
  if (found === "unknown") return await failTask(deps, task, answerLost(task.last_failure));
  if (found !== null) return await accepted({ ...step, assignment }, found);
  const settleSeconds = isAnswered
    ? deps.timing.answeredSeconds
    : assignment.upstream.timeoutSeconds + deps.timing.unansweredSeconds;
  const leftMs = (settleSeconds - (task.sent_seconds ?? 0)) * 1000;
  if (leftMs > 0) {
    const delayMs = Math.min(untilNextLookup(deps, task), leftMs);
    return { againInMs: await reschedule(changes, task, { delayMs }) };
  }
  return {
    againInMs: await rescheduleUnsent(changes, task, {
      tried: [...task.tried, upstreamName(assignment.upstream)],
      lastFailure: task.last_failure ?? UNANSWERED,
      delayMs: 0,
    }),
  };
}

/** The upstream may have made it, and cannot be asked. */
function answerLost(lastFailure: string | null): ApiError {
  return ANSWERED.has(lastFailure)
    ? jobError("failed")
    : new ApiError("upstream_failed", "The model's answer was lost: try again.");
}

/** The delay between lookups grows with the age of the submission. */
function untilNextLookup({ timing }: TaskDeps, { sent_seconds }: MediaTask): number {
  return Math.min(LOOKUP_MS_MAX, Math.max(timing.lookupMs, (sent_seconds ?? 0) * 250));
}
