import { Refusal, type RefusalCode } from "../../base/refusal.ts";
import type { Route } from "../../config/plan.ts";
import { identify, type Identity } from "../../idempotency/key.ts";
import { checkSpeech, MIME_TYPES, type SpeechBody } from "../../speech/check_speech.ts";
import { speak } from "../../speech/speak.ts";
import { acceptChecked, forgetKey, quoteFor } from "../../tasks/accept_generation.ts";
import { awaitTask } from "../../tasks/await_task.ts";
import type { CreatedTask } from "../../tasks/create_task.ts";
import { isOver, type TaskRow } from "../../tasks/task.ts";
import type { Endpoint, HttpContext } from "../exchange.ts";
import { readPreferences } from "../prefer.ts";
import { readJson } from "../read_json.ts";
import { acceptOrReplay, answerWithTask, callOf, modelOf } from "./create_generation.ts";
import { SPEECH_REQUEST } from "./generation_requests.ts";
import { noticeHeaders } from "./retrieve_model.ts";
import type { TaskEndpointDeps } from "./tasks.ts";

/** How long a repeatable request is waited for; the same key again goes on waiting. */
const WAIT_MS = 120_000;

/**
 * POST /v1/audio/speech: the sound itself. With `Prefer: respond-async` a task (202). With an
 * `Idempotency-Key` the sound is made by a task that is waited for, so that the same request again gets
 * the same sound and pays once.
 */
export function createSpeech(deps: TaskEndpointDeps, route: Route): Endpoint {
  return async function createSpeech(c) {
    const body = SPEECH_REQUEST.check(await readJson(c)) as unknown as
      & SpeechBody
      & { callback_url?: string };
    const identity = identify(c.req.header("idempotency-key") ?? null, route.path, body);
    const accept = async () => {
      const model = modelOf(c, body.model, route);
      const call = callOf(c, identity, body.callback_url);
      return {
        model,
        created: await acceptChecked(deps.tasks, call, model, checkSpeech(model, body)),
      };
    };
    if (readPreferences(c).respondAsync) return await answerWithTask(deps, c, identity, accept);
    if (identity !== null) {
      const { created } = await acceptOrReplay(deps, c, identity, accept);
      return await sendSound(deps, c, identity, created);
    }
    const model = modelOf(c, body.model, route);
    const { requestId, clientRequestId, plan, account } = callOf(c, null, body.callback_url);
    const { job, most } = checkSpeech(model, body);
    const { ledger, media } = deps.tasks;
    const bytes = await speak({ ledger, media }, {
      requestId,
      clientRequestId,
      plan,
      account: account.id,
      model,
      quote: quoteFor(plan, account, model, most),
      speech: job,
      signal: c.req.raw.signal,
    });
    return new Response(bytes, {
      headers: {
        "content-type": MIME_TYPES[job.parameters.response_format],
        ...noticeHeaders(model),
      },
    });
  };
}

/** The sound of a task, once it is there. */
async function sendSound(
  deps: TaskEndpointDeps,
  c: HttpContext,
  identity: Identity,
  { row, isReplay }: CreatedTask,
): Promise<Response> {
  const task = await awaitTask(deps.tasks, row, WAIT_MS, deps.leaving(c));
  const [output] = task.outputs;
  if (!isOver(task.status)) {
    throw new Refusal(
      "upstream_timeout",
      "The sound is not there yet: send the same request with the same key again.",
      { retryAfterSeconds: 1 },
    );
  }
  if (task.status !== "succeeded" || output === undefined) {
    // Who is told of a failure sends the same again, as with any answer of 5xx.
    await forgetKey(deps.tasks, task.account_id, identity, task.id);
    throw failureOf(task);
  }
  if ("content" in output) throw new Error(`The result of ${task.id} is no sound`);
  const file = await deps.tasks.files.find(task.account_id, output.file_id);
  if (file === null) {
    throw new Refusal("file_not_found", "The sound of this request is past its time.", {
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

function failureOf({ error_code, error_message }: TaskRow): Refusal {
  const code = (error_code ?? "upstream_failed") as RefusalCode;
  const message = error_message ?? "The task was cancelled.";
  const { status } = new Refusal(code, message);
  return new Refusal(code, message, status >= 500 ? { retryAfterSeconds: 2 } : {});
}
