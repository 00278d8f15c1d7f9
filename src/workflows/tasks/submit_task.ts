import { ApiError } from "../../lib/api_error.ts";
import type { NextStep } from "../../platform/queue/queue.ts";
import { upstreamName } from "../../upstream/admission.ts";
import { type FailureKind, UpstreamFailure } from "../../upstream/failure.ts";
import { jobError } from "../../upstream/job_error.ts";
import type { JobStatus, MediaJobType } from "../../upstream/media_adapter.ts";
import type { UpstreamAssignment } from "../../upstream/media_calls.ts";
import type { TaskDeps } from "./deps.ts";
import { failTask, finishTask } from "./finish_task.ts";
import {
  handBack,
  handBackUnclear,
  handBackUnsent,
  recordAccepted,
  recordResult,
  recordSubmitting,
} from "./lease.ts";
import { isPublic, loadInputs } from "./load_inputs.ts";
import { conclude } from "./poll_task.ts";
import { configForTask, failLost, findAssignedUpstream, modelGone } from "./upstream_assignment.ts";
import type { MediaTask } from "./task.ts";

/** Rounds through all upstreams of a model before a task fails. */
const ROUNDS_MAX = 4;
const ROUND_MS = 1_500;

/** How long a submission without a clear answer is looked for before "not there" is believed. */
export interface SubmissionTiming {
  /** The provider has answered an error: until a job that it accepted all the same is listed. */
  answeredSeconds: number;
  /** Nothing was answered: so long after the upstream's own time-out, within which it may still accept. */
  unansweredSeconds: number;
  /** The first wait between two looks. */
  lookMs: number;
}

export const SUBMISSION_TIMING: SubmissionTiming = {
  answeredSeconds: 10,
  unansweredSeconds: 15,
  lookMs: 2_000,
};
/** Looks come further apart, up to this. */
const LOOK_MS_MAX = 15_000;
/** What is written down of a submission that the provider has answered, if not clearly. */
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

/** How long after others a task tries, for each round that it has failed in. */
const STAND_BACK_MS = 3_000;
/** Another took the last place between our look and our call. */
const NO_PLACE_MS = 1_000;

/** Hands a job to an upstream that can take it now. What it is about to do is written down first. */
export async function submitTask(
  deps: TaskDeps,
  task: MediaTask,
  signal: AbortSignal,
): Promise<NextStep> {
  const { sql } = deps.database;
  if (task.cancel_requested_at !== null) {
    await finishTask(deps, task, { status: "cancelled" });
    return "done";
  }
  const config = await configForTask(deps, task.config_version, task.model);
  const model = config.models.get(task.model);
  if (model === undefined) return await failTask(deps, task, modelGone());
  // In its first round a job is new to every upstream that it has not tried.
  const trial = task.poll_count === 0 ? "first" : "retry";
  const choice = deps.media.choose(config, model, task.tried, trial);
  if (choice.upstream === null) {
    return choice.retryAfterMs === null
      ? await nextRound(deps, task)
      : { againInMs: await handBack(sql, task, { delayMs: restOf(task, choice.retryAfterMs) }) };
  }
  const assignment: UpstreamAssignment = { config, model, upstream: choice.upstream };
  let inputs;
  try {
    inputs = await loadInputs(deps, config, task, deps.media.inputsFor(assignment), signal);
  } catch (error) {
    // The client's file is gone, or its address leads nowhere good: no upstream would help.
    if (error instanceof ApiError && !error.isServerError) return await failTask(deps, task, error);
    throw error;
  }
  const { prompt, parameters } = task.job;
  const { seconds_max: _, ...asked } = parameters;
  await recordSubmitting(sql, task, choice.upstream);
  let submitted;
  try {
    submitted = await deps.media.submit(
      assignment,
      {
        type: task.type as MediaJobType,
        reference: task.id,
        prompt,
        parameters: asked,
        inputs,
        callbackUrl: isPublic(config) ? deps.files.callbackUrl(task.id, Date.now()) : null,
      },
      signal,
      trial,
    );
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return await afterFailure(deps, task, assignment, error);
  }
  const { id, status } = submitted;
  if (id !== null) return await accepted(deps, task, assignment, id, status, signal);
  if (status.state === "failed") {
    return await afterFailure(
      deps,
      task,
      assignment,
      new UpstreamFailure(status.fault.kind, "the job failed at once", {
        param: status.fault.param,
        received: "declined",
      }),
    );
  }
  // Bytes are copied now or never; addresses are worth remembering.
  if (status.state === "succeeded" && status.outputs.every((output) => "url" in output)) {
    await recordResult(sql, task, { outputs: status.outputs, usage: status.usage });
  }
  return await conclude(deps, task, assignment, status, signal);
}

/**
 * After a rest the first to ask shows whether an upstream is well again. Who has failed least asks first:
 * else a few jobs that make it fail keep a model from everybody.
 */
function restOf({ poll_count }: MediaTask, restMs: number): number {
  return restMs + STAND_BACK_MS * poll_count;
}

async function accepted(
  deps: TaskDeps,
  task: MediaTask,
  assignment: UpstreamAssignment,
  id: string,
  seen: JobStatus | undefined,
  signal: AbortSignal,
): Promise<NextStep> {
  await recordAccepted(deps.database.sql, task, id);
  deps.watch.changed(task.id);
  if (seen !== undefined && seen.state !== "queued" && seen.state !== "running") {
    return await conclude(deps, { ...task, upstream_id: id }, assignment, seen, signal);
  }
  const delayMs = deps.media.polling(assignment).firstMs;
  const progress = seen?.progress ?? null;
  return { againInMs: await handBack(deps.database.sql, task, { delayMs, progress }) };
}

async function afterFailure(
  deps: TaskDeps,
  task: MediaTask,
  { upstream }: UpstreamAssignment,
  failure: UpstreamFailure,
): Promise<NextStep> {
  const { sql } = deps.database;
  // What became of it is unknown: the next step asks.
  if (failure.received === "unknown") {
    const delayMs = deps.timing.lookMs;
    await handBackUnclear(sql, task, {
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
    const delayMs = restOf(task, NO_PLACE_MS);
    await handBackUnsent(sql, task, { tried, lastFailure, delayMs, isNewRound: false });
    return { againInMs: delayMs };
  }
  await handBackUnsent(sql, task, {
    tried: [...task.tried, upstreamName(upstream)],
    lastFailure: failure.kind,
    delayMs: 0,
    isNewRound: false,
  });
  return { againInMs: 0 };
}

/** Nobody took it: all are asked again after a while, so many times. */
async function nextRound(deps: TaskDeps, task: MediaTask): Promise<NextStep> {
  const kind = (task.last_failure ?? "failed") as FailureKind;
  if (kind === "unable" || task.poll_count + 1 >= ROUNDS_MAX) {
    return await failTask(deps, task, jobError(kind));
  }
  const delayMs = ROUND_MS * 2 ** task.poll_count * (0.8 + 0.4 * Math.random());
  await handBackUnsent(deps.database.sql, task, {
    tried: [],
    lastFailure: kind,
    delayMs,
    isNewRound: true,
  });
  return { againInMs: delayMs };
}

/**
 * A submission that may have been accepted: its answer was lost or was an error of the server, or the process
 * that sent it died. It is looked up by our reference and never repeated blindly: found, it goes on; not
 * there when the upstream can no longer accept it, it is submitted again; where the upstream cannot say, the
 * task fails and nothing is charged.
 */
export async function recoverSubmission(
  deps: TaskDeps,
  task: MediaTask,
  signal: AbortSignal,
): Promise<NextStep> {
  const { sql } = deps.database;
  const assignment = await findAssignedUpstream(deps, task);
  if (assignment === null) return await failLost(deps, task);
  let found;
  try {
    found = await deps.media.find(assignment, task.id, signal);
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return { againInMs: await handBack(sql, task, { delayMs: untilNextLook(deps, task) }) };
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
  if (found !== null) return await accepted(deps, task, assignment, found, undefined, signal);
  const settleSeconds = isAnswered
    ? deps.timing.answeredSeconds
    : assignment.upstream.timeoutSeconds + deps.timing.unansweredSeconds;
  const leftMs = (settleSeconds - (task.sent_seconds ?? 0)) * 1000;
  if (leftMs > 0) {
    const delayMs = Math.min(untilNextLook(deps, task), leftMs);
    return { againInMs: await handBack(sql, task, { delayMs }) };
  }
  await handBackUnsent(sql, task, {
    tried: [...task.tried, upstreamName(assignment.upstream)],
    lastFailure: task.last_failure ?? UNANSWERED,
    delayMs: 0,
    isNewRound: false,
  });
  return { againInMs: 0 };
}

/** The longer a submission is unclear, the less often it is looked for. */
function untilNextLook({ timing }: TaskDeps, { sent_seconds }: MediaTask): number {
  return Math.min(LOOK_MS_MAX, Math.max(timing.lookMs, (sent_seconds ?? 0) * 250));
}
