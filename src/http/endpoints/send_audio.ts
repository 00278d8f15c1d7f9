import { ApiError, type ApiErrorCode } from "../../lib/api_error.ts";
import type { Config, Model } from "../../platform/config/config.ts";
import type { IdempotencyIdentity } from "../../domain/idempotency/key.ts";
import { noSpeechUpstream } from "../../workflows/speech/create_speech.ts";
import { releaseKey } from "../../workflows/tasks/accept_generation.ts";
import { awaitTask } from "../../workflows/tasks/await_task.ts";
import { finishTask } from "../../workflows/tasks/finish_task.ts";
import { isOver, type TaskRow } from "../../workflows/tasks/task.ts";
import type { AttemptKind } from "../../upstream/admission.ts";
import type { HttpContext } from "../exchange.ts";
import type { Accepted } from "./create_generation.ts";
import type { TaskEndpointDeps } from "./tasks.ts";

/** How long a repeatable request is waited for; the same key again goes on waiting. */
const WAIT_MS = 120_000;
/** How long of that it may wait for its turn. Who would wait longer is told when to come again. */
const TURN_MS = 10_000;
const LOOK_MS = 1_000;

/** Refuses while every upstream rests for longer than a client should wait. */
export function mustHaveTurn(deps: TaskEndpointDeps, config: Config, model: Model): void {
  const turnMs = turnOf(deps, config, model, "first");
  if (turnMs > TURN_MS) throw noSpeechUpstream(model, turnMs);
}

/** The sound of a task, once it is there. */
export async function sendAudio(
  deps: TaskEndpointDeps,
  c: HttpContext,
  identity: IdempotencyIdentity,
  { model, created: { row, isReplay } }: Accepted,
): Promise<Response> {
  const until = performance.now() + WAIT_MS;
  // Who finds a task that another request made waits for it, and does not end it.
  const begun = isReplay || model === null ? row : await awaitTurn(deps, c, identity, model, row);
  const task = await awaitTask(deps.tasks, begun, until - performance.now(), deps.leaving(c));
  const [output] = task.outputs;
  if (!isOver(task.status)) {
    throw new ApiError(
      "upstream_timeout",
      "The sound is not there yet: send the same request with the same key again.",
      { retryAfterSeconds: 1 },
    );
  }
  if (task.status !== "succeeded" || output === undefined) {
    // Who is told of a failure sends the same again, as with any answer of 5xx.
    await releaseKey(deps.tasks, task.account_id, identity, task.id);
    throw failureOf(task);
  }
  if ("content" in output) throw new Error(`The result of ${task.id} is no sound`);
  const file = await deps.tasks.files.find(task.account_id, output.file_id);
  if (file === null) {
    throw new ApiError("file_not_found", "The sound of this request is past its time.", {
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
  const { status } = new ApiError(code, message);
  return new ApiError(code, message, status >= 500 ? { retryAfterSeconds: 2 } : {});
}

/**
 * Waits until an upstream has the job. When its turn is too far away the task is taken back, as long as
 * certainly nobody has it, and its key with it.
 */
async function awaitTurn(
  deps: TaskEndpointDeps,
  c: HttpContext,
  identity: IdempotencyIdentity,
  model: Model,
  row: TaskRow,
): Promise<TaskRow> {
  const leaving = deps.leaving(c);
  const startedAt = performance.now();
  let seen = row;
  while (seen.status === "queued" && !leaving.aborted) {
    seen = await awaitTask(deps.tasks, seen, LOOK_MS, leaving);
    const waitedMs = performance.now() - startedAt;
    if (seen.status !== "queued" || waitedMs > WAIT_MS) break;
    const turnMs = turnOf(deps, c.env.config, model, "again");
    if (waitedMs + turnMs > TURN_MS && await takeBack(deps, identity, row)) {
      throw noSpeechUpstream(model, turnMs);
    }
  }
  return seen;
}

async function takeBack(
  { tasks }: TaskEndpointDeps,
  identity: IdempotencyIdentity,
  { id, account_id }: TaskRow,
): Promise<boolean> {
  const isTaken = await finishTask(tasks, { id, fence: null }, {
    status: "failed",
    error: { code: "upstream_failed", message: "The model could not take it in time: try again." },
  });
  if (isTaken) await releaseKey(tasks, account_id, identity, id);
  return isTaken;
}

/** Milliseconds until an upstream may be asked; none while one can be asked now. */
function turnOf(
  { tasks }: TaskEndpointDeps,
  config: Config,
  model: Model,
  trial: AttemptKind,
): number {
  const choice = tasks.media.choose(config, model, [], trial);
  return choice.upstream === null ? choice.retryAfterMs ?? 0 : 0;
}
