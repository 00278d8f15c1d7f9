import { ApiError, type ApiErrorCode } from "../../lib/api_error.ts";
import type { Config, Model } from "../../platform/config/config.ts";
import type { IdempotencyIdentity } from "../../domain/idempotency/key.ts";
import { noSpeechUpstream } from "../../workflows/speech/create_speech.ts";
import { forgetKey } from "../../workflows/tasks/accept_generation.ts";
import { awaitTask } from "../../workflows/tasks/await_task.ts";
import { finishTask } from "../../workflows/tasks/finish_task.ts";
import { isOver, type TaskRow } from "../../workflows/tasks/task.ts";
import type { AttemptKind } from "../../upstream/admission.ts";
import type { HttpContext } from "../exchange.ts";
import type { Accepted } from "./create_generation.ts";
import type { TaskEndpointDeps } from "./tasks.ts";

/** How long a request waits for its task; a repeated request waits again. */
const WAIT_MS = 120_000;
/** How long of that it may wait for an available upstream; beyond it is 503 with Retry-After. */
const AVAILABLE_MS = 10_000;
const CHECK_MS = 1_000;

/** Fails while no upstream will be available within the time that a client should wait. */
export function requireAvailableUpstream(
  deps: TaskEndpointDeps,
  config: Config,
  model: Model,
): void {
  const waitMs = untilAvailableMs(deps, config, model, "first");
  if (waitMs > AVAILABLE_MS) throw noSpeechUpstream(model, waitMs);
}

/** Sends the audio of a task when it is ready. */
export async function sendAudio(
  deps: TaskEndpointDeps,
  c: HttpContext,
  identity: IdempotencyIdentity,
  { model, created: { row, isReplay } }: Accepted,
): Promise<Response> {
  const until = performance.now() + WAIT_MS;
  // A replay waits for the task of the first request, and does not end it.
  const begun = isReplay || model === null
    ? row
    : await awaitSubmission(deps, c, identity, { model, row });
  const task = await awaitTask(deps.tasks, begun, until - performance.now(), deps.stopSignal(c));
  const [output] = task.outputs;
  if (!isOver(task.status)) {
    throw new ApiError(
      "upstream_timeout",
      "The audio is not ready yet. Send the same request with the same Idempotency-Key again.",
      { retryAfterSeconds: 1 },
    );
  }
  if (task.status !== "succeeded" || output === undefined) {
    // After a failure the client may send the same request again, as after any 5xx.
    await forgetKey(deps.tasks, task.account_id, identity, task.id);
    throw failureOf(task);
  }
  if ("content" in output) throw new Error(`The result of ${task.id} has no audio`);
  const file = await deps.tasks.files.find(task.account_id, output.file_id);
  if (file === null) {
    throw new ApiError("file_not_found", "The audio of this request has expired.", {
      param: "Idempotency-Key",
    });
  }
  return new Response(await deps.tasks.files.open(file), {
    headers: {
      "content-type": output.mime_type,
      "content-length": String(file.bytes),
      ...(isReplay ? { "idempotent-replayed": "true" } : {}),
    },
  });
}

function failureOf({ error_code, error_message }: TaskRow): ApiError {
  const code = (error_code ?? "upstream_failed") as ApiErrorCode;
  const message = error_message ?? "The task was cancelled.";
  const error = new ApiError(code, message);
  return error.isServerError ? new ApiError(code, message, { retryAfterSeconds: 2 }) : error;
}

/**
 * Waits until an upstream has accepted the job. If that takes too long and no upstream can have received it,
 * the task fails and its idempotency key is released.
 */
async function awaitSubmission(
  deps: TaskEndpointDeps,
  c: HttpContext,
  identity: IdempotencyIdentity,
  { model, row }: { model: Model; row: TaskRow },
): Promise<TaskRow> {
  const leaving = deps.stopSignal(c);
  const startedAt = performance.now();
  let seen = row;
  while (seen.status === "queued" && !leaving.aborted) {
    seen = await awaitTask(deps.tasks, seen, CHECK_MS, leaving);
    const waitedMs = performance.now() - startedAt;
    if (seen.status !== "queued" || waitedMs > WAIT_MS) break;
    const waitMs = untilAvailableMs(deps, c.env.config, model, "retry");
    if (waitedMs + waitMs > AVAILABLE_MS && await abortQueued(deps, identity, row)) {
      throw noSpeechUpstream(model, waitMs);
    }
  }
  return seen;
}

async function abortQueued(
  { tasks }: TaskEndpointDeps,
  identity: IdempotencyIdentity,
  { id, account_id }: TaskRow,
): Promise<boolean> {
  const isFailed = await finishTask(tasks, { id, fence: null }, {
    status: "failed",
    error: { code: "upstream_failed", message: "No upstream was available in time. Try again." },
  });
  if (isFailed) await forgetKey(tasks, account_id, identity, id);
  return isFailed;
}

/** Milliseconds until an upstream is available; 0 if one is now. */
function untilAvailableMs(
  { tasks }: TaskEndpointDeps,
  config: Config,
  model: Model,
  attempt: AttemptKind,
): number {
  const choice = tasks.media.choose(config, model, [], attempt);
  return choice.upstream === null ? choice.retryAfterMs ?? 0 : 0;
}
