import { ApiError } from "../../lib/api_error.ts";
import type { NextStep } from "../../platform/queue/queue.ts";
import { type AdmissionCaller, upstreamName } from "../../upstream/admission.ts";
import { type FailureKind, UpstreamFailure } from "../../upstream/failure.ts";
import { jobError } from "../../upstream/job_error.ts";
import type { JobStatus, MediaInput, MediaJob, Submitted } from "../../upstream/media_adapter.ts";
import type { TaskDeps } from "./deps.ts";
import { failTask, finishTask } from "./finish_task.ts";
import {
  recordAccepted,
  recordResult,
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

/** Rounds through all upstreams of a model before a task fails. */
const ROUNDS_MAX = 4;
const ROUND_MS = 1_500;

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

/** Added to the delay of a task for each round in which it failed. */
const FAILED_ROUND_DELAY_MS = 3_000;
/** Another request took the last slot between the choice and the call. */
const NO_PLACE_MS = 1_000;

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
    return choice.retryAfterMs === null ? await nextRound(deps, task) : {
      againInMs: await reschedule(deps.database.sql, task, {
        delayMs: delayAfterOutage(task, choice.retryAfterMs),
      }),
    };
  }
  const assignment = { config, model, upstream: choice.upstream };
  return await submitTo({ ...step, assignment }, attempt);
}

/** Submits a job to its upstream. The attempt is recorded before it is sent. */
async function submitTo(step: AssignedStep, attempt: AdmissionCaller): Promise<NextStep> {
  const { deps, task, assignment, signal } = step;
  let inputs;
  try {
    inputs = await loadInputs(step);
  } catch (error) {
    // The client's file was deleted or its URL cannot be used: no other upstream would help.
    if (error instanceof ApiError && !error.isServerError) return await failTask(deps, task, error);
    throw error;
  }
  await recordSubmitting(deps.database.sql, task, assignment.upstream);
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
    await recordResult(deps.database.sql, task, { outputs: status.outputs, usage: status.usage });
  }
  return await conclude(step, status);
}

/**
 * After an outage the first request shows whether the upstream has recovered. Jobs with fewer failures go first:
 * otherwise a few jobs that make it fail would keep it unavailable for all others.
 */
function delayAfterOutage({ poll_count }: MediaTask, restMs: number): number {
  return restMs + FAILED_ROUND_DELAY_MS * poll_count;
}

/** Continues a job that its upstream knows by `id`; `seen` is its status, if the response has one. */
async function accepted(step: AssignedStep, id: string, seen?: JobStatus): Promise<NextStep> {
  const { deps, task, assignment } = step;
  await recordAccepted(deps.database.sql, task, id);
  deps.watch.changed(task.id);
  if (seen !== undefined && seen.state !== "queued" && seen.state !== "running") {
    return await conclude({ ...step, task: { ...task, upstream_id: id } }, seen);
  }
  const delayMs = deps.media.polling(assignment).firstMs;
  const progress = seen?.progress ?? null;
  return { againInMs: await reschedule(deps.database.sql, task, { delayMs, progress }) };
}

async function afterFailure(
  { deps, task, assignment: { upstream } }: AssignedStep,
  failure: UpstreamFailure,
): Promise<NextStep> {
  const { sql } = deps.database;
  // The outcome is unknown: the next step looks the job up.
  if (failure.received === "unknown") {
    const delayMs = deps.timing.lookupMs;
    await rescheduleUnclear(sql, task, {
      lastFailure: failure.hasProviderResponse ? failure.kind : UNANSWERED,
      delayMs,
    });
    return { againInMs: delayMs };
  }
  if (failure.isRejection) {
    return await failTask(deps, task, jobError(failure.kind, failure.options.param));
  }
  if (failure.wasNotAttempted) {
    const { tried, last_failure: lastFailure } = task;
    const delayMs = delayAfterOutage(task, NO_PLACE_MS);
    await rescheduleUnsent(sql, task, { tried, lastFailure, delayMs, isNewRound: false });
    return { againInMs: delayMs };
  }
  await rescheduleUnsent(sql, task, {
    tried: [...task.tried, upstreamName(upstream)],
    lastFailure: failure.kind,
    delayMs: 0,
    isNewRound: false,
  });
  return { againInMs: 0 };
}

/** No upstream took the job: all are tried again later, for a limited number of rounds. */
async function nextRound(deps: TaskDeps, task: MediaTask): Promise<NextStep> {
  const kind = (task.last_failure ?? "failed") as FailureKind;
  if (kind === "unable" || task.poll_count + 1 >= ROUNDS_MAX) {
    return await failTask(deps, task, jobError(kind));
  }
  const delayMs = ROUND_MS * 2 ** task.poll_count * (0.8 + 0.4 * Math.random());
  await rescheduleUnsent(deps.database.sql, task, {
    tried: [],
    lastFailure: kind,
    delayMs,
    isNewRound: true,
  });
  return { againInMs: delayMs };
}

/**
 * Resolves a submission with an unknown outcome: its response was lost or was a server error, or the process died. The
 * job is looked up by the gateway's reference and never submitted again without a lookup. Found, it continues; not
 * found when the upstream can no longer accept it, it is submitted again; where the upstream has no lookup, the task
 * fails and nothing is charged.
 */
export async function recoverSubmission(step: MediaStep): Promise<NextStep> {
  const { deps, task, signal } = step;
  const { sql } = deps.database;
  const assignment = await findAssignedUpstream(deps, task);
  if (assignment === null) return await failUnreachable(deps, task);
  let found;
  try {
    found = await deps.media.find(assignment, task.id, signal);
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return { againInMs: await reschedule(sql, task, { delayMs: untilNextLookup(deps, task) }) };
  }
  const isAnswered = ANSWERED.has(task.last_failure);
  if (found === "unknown") {
    return await failTask(
      deps,
      task,
      isAnswered
        ? jobError("failed")
        : new ApiError("upstream_failed", "The model's answer was lost: try again."),
    );
  }
  if (found !== null) return await accepted({ ...step, assignment }, found);
  const settleSeconds = isAnswered
    ? deps.timing.answeredSeconds
    : assignment.upstream.timeoutSeconds + deps.timing.unansweredSeconds;
  const leftMs = (settleSeconds - (task.sent_seconds ?? 0)) * 1000;
  if (leftMs > 0) {
    const delayMs = Math.min(untilNextLookup(deps, task), leftMs);
    return { againInMs: await reschedule(sql, task, { delayMs }) };
  }
  await rescheduleUnsent(sql, task, {
    tried: [...task.tried, upstreamName(assignment.upstream)],
    lastFailure: task.last_failure ?? UNANSWERED,
    delayMs: 0,
    isNewRound: false,
  });
  return { againInMs: 0 };
}

/** The delay between lookups grows with the age of the submission. */
function untilNextLookup({ timing }: TaskDeps, { sent_seconds }: MediaTask): number {
  return Math.min(LOOKUP_MS_MAX, Math.max(timing.lookupMs, (sent_seconds ?? 0) * 250));
}
