import type { Model } from "../../platform/config/config.ts";
import { isStorageUnavailable } from "../../platform/database/storage_error.ts";
import {
  acceptChecked,
  type GenerationCall,
  newTaskOf,
  quoteFor,
} from "../tasks/accept_generation.ts";
import type { CreatedTask, NewTask } from "../tasks/create_task.ts";
import type { TaskDeps } from "../tasks/deps.ts";
import { checkSpeech, type SpeechBody } from "../../model_types/speech.ts";
import { abandonSpeech, ONLY_WAIT_MS } from "./await_speech.ts";
import { unavailableSoon } from "./upstream_wait.ts";

/** Accepts a speech request as a task; its client follows the task. */
export async function acceptSpeech(
  deps: TaskDeps,
  call: GenerationCall,
  model: Model,
  body: SpeechBody,
): Promise<CreatedTask> {
  return await acceptChecked(deps, call, model, checkSpeech(model, body));
}

/** Accepts a speech request whose client waits for the audio. Fails at once while no upstream can make it soon. */
export async function acceptAwaitedSpeech(
  deps: TaskDeps,
  call: GenerationCall,
  model: Model,
  body: SpeechBody,
): Promise<CreatedTask> {
  const { job, maxUsage } = checkSpeech(model, body);
  const unavailable = unavailableSoon(deps.media, call.config, model, "first");
  if (unavailable !== null) throw unavailable;
  const task: NewTask = {
    ...newTaskOf(call, model),
    job: { ...job, is_awaited: true },
    quote: quoteFor(call.config, call.account, model, maxUsage),
  };
  if (call.identity !== null) return await deps.creation.create(task);
  try {
    return await deps.creation.create({ ...task, ...timeToWait(task) });
  } catch (error) {
    // The transaction may have been committed all the same, and its client will not learn of it.
    if (isStorageUnavailable(error)) await abandonSpeech(deps, call.requestId).catch(() => false);
    throw error;
  }
}

/** Without an idempotency key no later request can get the audio: the task ends with the wait, also after a crash. */
function timeToWait(task: NewTask): Pick<NewTask, "queueSeconds" | "deadlineSeconds"> {
  const seconds = ONLY_WAIT_MS / 1000;
  return {
    queueSeconds: Math.min(task.queueSeconds, seconds),
    deadlineSeconds: Math.min(task.deadlineSeconds, seconds),
  };
}
