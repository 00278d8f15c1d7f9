import type { Limiter } from "../../domain/limits/limiter.ts";
import { priceFrom } from "../../domain/pricing/snapshot.ts";
import type { ResponseStore } from "../../domain/responses/response_store.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Config, Model } from "../../platform/config/config.ts";
import { retryFor } from "../../platform/database/retry_for.ts";
import type { NextStep } from "../../platform/queue/queue.ts";
import { UpstreamFailure } from "../../upstream/failure.ts";
import { untilNextRoundMs } from "../../upstream/fallback.ts";
import { RETRY_SECONDS } from "../../upstream/job_error.ts";
import { exhausted, type Upstreams } from "../../upstream/upstreams.ts";
import { chargeFor, tokenCount } from "../chat/meter.ts";
import { prepareChat, type PreparedChat } from "../chat/prepare_chat.ts";
import { reserveTokens } from "../chat/reserve_tokens.ts";
import type { TaskDeps } from "../tasks/deps.ts";
import { type Ending, failTask, finishTask } from "../tasks/finish_task.ts";
import { noticeLostLease, rescheduleUnsent } from "../tasks/lease.ts";
import type { LongStepSlots } from "../tasks/long_step_slots.ts";
import { responseIdOf } from "../tasks/response_of_task.ts";
import type { ClaimedTask } from "../tasks/task.ts";
import type { TaskHandler } from "../tasks/task_worker.ts";
import { configForTask, modelGone } from "../tasks/upstream_assignment.ts";
import type { BackgroundResponse, OpenBackgroundResponse } from "./background_response.ts";
import { callUpstream, FailedCall, OutOfTime } from "./call_upstream.ts";
import { parseResponseJob } from "./response_job.ts";

export interface RunDeps {
  upstreams: Upstreams;
  limiter: Limiter;
  store: ResponseStore;
  open: OpenBackgroundResponse;
  /** Of calls under way: they take minutes. */
  slots: LongStepSlots;
}

/** Responses that one process makes at once in the background; the others wait in the database. */
export const RESPONSE_SLOTS = 128;
/** How long a step waits for a slot before its task is put off. */
const SLOT_WAIT_MS = 5_000;
const NO_SLOT_MS = 1_000;
/** How long a database that is away is waited for with an answer: less than the lease. */
const FINISH_MS = 10_000;

/** One step of a task that makes a response. */
export interface ResponseStep {
  readonly run: RunDeps;
  readonly deps: TaskDeps;
  readonly task: ClaimedTask;
  /** Aborts when the lease is lost or the process stops. */
  readonly signal: AbortSignal;
}

/** What a step works with, once it has been loaded. */
export interface LoadedStep extends ResponseStep {
  readonly config: Config;
  readonly model: Model;
  readonly response: BackgroundResponse;
}

export function responseTaskHandler(run: RunDeps): TaskHandler {
  return (deps, task, signal) => runResponse({ run, deps, task, signal });
}

/**
 * Calls an upstream once and ends the task with its answer, or puts it off. A call whose process died is made again:
 * its answer is lost, and the client pays for one.
 */
async function runResponse(step: ResponseStep): Promise<NextStep> {
  const { run, deps, task, signal } = step;
  if (task.cancel_requested_at !== null) return await cancelled(step);
  if (task.phase === "submitting") {
    const lost = new UpstreamFailure("cut", "the process that called the upstream has died");
    return await nextRound(step, new FailedCall(lost, `${task.provider}/${task.upstream_model}`));
  }
  deps.leaveSlot?.();
  const { account_id: account, model: id } = task;
  using slot = await run.slots.acquire(account, id, { waitMs: SLOT_WAIT_MS, signal });
  if (slot === null) return await later(step, NO_SLOT_MS);
  const config = await configForTask(deps, task.config_version, id);
  const model = config.models.get(id);
  if (model === undefined) return await failTask(deps, task, modelGone());
  const stored = await run.store.find(account, responseIdOf(task.request_id));
  if (stored === null) return await cancelled(step);
  using lease = noticeLostLease(deps, task, signal);
  const response = run.open(stored);
  return await answer({ ...step, config, model, response, signal: lease.signal });
}

/** Its client has cancelled or deleted it, or its account was closed. */
async function cancelled({ deps, task }: ResponseStep): Promise<NextStep> {
  await finishTask(deps, task, { status: "cancelled" });
  return "done";
}

async function answer(step: LoadedStep): Promise<NextStep> {
  const { run, deps, task, config, model, response } = step;
  const { api_key: apiKey, per_minute: perMinute } = parseResponseJob(task.job).token_rate;
  const price = priceFrom(task.price!);
  let prepared: PreparedChat;
  let reservation;
  try {
    const { upstreams } = run;
    prepared = prepareChat({ upstreams, config, model, price }, response.request);
    reservation = await reserveTokens(run.limiter, { apiKey, perMinute }, prepared.maxUsage);
  } catch (error) {
    return await afterError(step, error);
  }
  try {
    const { upstream, metered, rendered } = await callUpstream(step, prepared);
    const body = run.store.sealBody(responseIdOf(task.request_id), rendered.record);
    const ending: Ending = {
      status: "succeeded",
      response: { status: rendered.status, body },
      charge: chargeFor({ price, kind: task.kind }, upstream, metered, prepared.extras),
      units: tokenCount(metered),
      upstream,
    };
    const finish = () => finishTask(deps, task, ending);
    // Not left to the next step: that would have to call the upstream again.
    await finish().catch((error) => retryFor(FINISH_MS, error, finish));
    reservation.settle(tokenCount(metered));
    return "done";
  } catch (error) {
    reservation.release();
    return await afterError(step, error);
  }
}

/** What becomes of a response that could not be made now. */
async function afterError(step: LoadedStep, error: unknown): Promise<NextStep> {
  const { deps, task, signal, response } = step;
  // The worker knows what follows from a lost lease and from a stop.
  if (signal.aborted) throw signal.reason;
  if (error instanceof OutOfTime) {
    const message = "The response was not finished in time.";
    await finishTask(deps, task, {
      status: "expired",
      error: { code: "upstream_timeout", message },
    });
    return "done";
  }
  if (error instanceof FailedCall) return await nextRound(step, error);
  if (!(error instanceof ApiError)) throw error;
  if (error.code === "model_unavailable" || error.code === "rate_limit_exceeded") {
    return await later(step, (error.retryAfterSeconds ?? RETRY_SECONDS) * 1000);
  }
  return await failTask(deps, task, response.toClientError(error));
}

/** No upstream was called: it waits for a slot, for the rate of its key, or for an upstream that works. */
async function later({ deps, task, signal }: ResponseStep, delayMs: number): Promise<NextStep> {
  signal.throwIfAborted();
  const { tried, last_failure: lastFailure } = task;
  const waiting = { tried, lastFailure, delayMs };
  return { againInMs: await rescheduleUnsent(deps.changes, task, waiting) };
}

/** The upstreams have failed, or the answer was lost: all are tried again later, a few times. */
async function nextRound(
  { deps, task }: ResponseStep,
  { failure, upstream }: FailedCall,
): Promise<NextStep> {
  const delayMs = untilNextRoundMs(task.poll_count, failure.kind);
  if (delayMs === null) return await failTask(deps, task, exhausted(failure));
  return {
    againInMs: await rescheduleUnsent(deps.changes, task, {
      tried: [...task.tried, upstream],
      lastFailure: failure.kind,
      delayMs,
      isNewRound: true,
    }),
  };
}
