import { ApiError } from "../../lib/api_error.ts";
import type { IdempotencyIdentity } from "../../domain/idempotency/key.ts";
import type { Config } from "../../platform/config/config.ts";
import { retryFor } from "../../platform/database/retry_for.ts";
import { jobError } from "../../upstream/job_error.ts";
import { releaseKey } from "../tasks/accept_generation.ts";
import { awaitTask } from "../tasks/await_task.ts";
import type { CreatedTask } from "../tasks/create_task.ts";
import type { TaskDeps } from "../tasks/deps.ts";
import { findTask } from "../tasks/find_task.ts";
import { abandonTask } from "../tasks/stop_task.ts";
import { isOver, type TaskRow } from "../tasks/task.ts";
import { taskError } from "../tasks/task_error.ts";
import { unavailableSoon } from "./upstream_wait.ts";

/** How long a request with an idempotency key waits; the same request again continues to wait. */
const WAIT_MS = 120_000;
/** How long a request without one waits. */
export const ONLY_WAIT_MS = 300_000;
/** How long it waits on a node that is shutting down: less than the time that requests have there. */
const DRAIN_WAIT_MS = 15_000;
/** How long audio that is ready, or a task that is to be abandoned, waits for the database. */
const STORAGE_WAIT_MS = 10_000;
const ABANDON_WAIT_MS = 5_000;

export interface SpeechWait {
  readonly created: CreatedTask;
  readonly identity: IdempotencyIdentity | null;
  readonly config: Config;
  /** Aborts when the client disconnects. */
  readonly client: AbortSignal;
  /** The same, or when this node shuts down. */
  readonly stop: AbortSignal;
}

/** The audio of a task, from our own storage. */
export interface SpeechAudio {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly mimeType: string;
  readonly bytes: number;
}

/**
 * Waits for the audio of a task. A request with an idempotency key that ends before leaves the task alone: the same
 * request again gets the audio. Without a key nothing else can get it, so the task is cancelled and nothing charged.
 */
export async function awaitSpeech(deps: TaskDeps, wait: SpeechWait): Promise<SpeechAudio> {
  const task = wait.identity === null ? await awaitOnly(deps, wait) : await awaitShared(deps, wait);
  if (task.status === "succeeded") return await openAudio(deps, task);
  // After a failure the client may send the same request again, as after any 5xx.
  if (wait.identity !== null) await releaseKey(deps, task.account_id, wait.identity, task.id);
  throw failureOf(deps, wait, task);
}

/** Waits for a task that the same request, sent again, waits for too. */
async function awaitShared(deps: TaskDeps, { created, stop }: SpeechWait): Promise<TaskRow> {
  const task = await awaitTask(deps, created.row, WAIT_MS, stop);
  if (isOver(task.status)) return task;
  throw new ApiError(
    "upstream_timeout",
    "The audio is not ready yet. Send the same request with the same Idempotency-Key again.",
    { retryAfterSeconds: 1 },
  );
}

/** Waits for a task that no other request can wait for; cancels it when the wait ends without audio. */
async function awaitOnly(
  deps: TaskDeps,
  { created, client, stop }: SpeechWait,
): Promise<TaskRow> {
  let task = await awaitTask(deps, created.row, ONLY_WAIT_MS, stop);
  if (!isOver(task.status) && stop.aborted) {
    task = await awaitTask(deps, task, DRAIN_WAIT_MS, client);
  }
  if (isOver(task.status)) return task;
  if (await abandonSpeech(deps, task.request_id)) throw jobError("timeout");
  // It ended at the same moment.
  return await findTask(deps.database.sql, task.account_id, task.id) ?? task;
}

/** Cancels the task of a request that ends without its audio; also while the database is away for a moment. */
export async function abandonSpeech(deps: TaskDeps, requestId: string): Promise<boolean> {
  const abandon = () => abandonTask(deps, requestId, new AbortController().signal);
  return await abandon().catch((error) => retryFor(ABANDON_WAIT_MS, error, abandon));
}

async function openAudio(deps: TaskDeps, task: TaskRow): Promise<SpeechAudio> {
  const [output] = task.outputs;
  if (output === undefined || "content" in output) {
    throw new Error(`The result of ${task.id} has no audio`);
  }
  const open = async () => {
    const file = await deps.files.find(task.account_id, output.file_id);
    return file === null ? null : { file, body: await deps.files.open(file) };
  };
  // It is paid for: worth a wait for the database.
  const opened = await open().catch((error) => retryFor(STORAGE_WAIT_MS, error, open));
  if (opened === null) {
    throw new ApiError("file_not_found", "The audio of this request has expired.", {
      param: "Idempotency-Key",
    });
  }
  return { body: opened.body, mimeType: output.mime_type, bytes: opened.file.bytes };
}

/** Why there is no audio. While no upstream is available, that is the reason that helps the client most. */
function failureOf(
  { media }: TaskDeps,
  { config, created }: SpeechWait,
  task: TaskRow,
): ApiError {
  const error = taskError(task);
  if (!error.isServerError) return error;
  const model = config.models.get(task.model);
  const unavailable = model === undefined || created.isReplay
    ? null
    : unavailableSoon(media, config, model, "retry");
  return unavailable ?? error;
}
