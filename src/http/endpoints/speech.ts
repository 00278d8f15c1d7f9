import type { Route } from "../../platform/config/config.ts";
import { identifyRequest } from "../../domain/idempotency/key.ts";
import { checkSpeech, MIME_TYPES, type SpeechBody } from "../../model_types/speech.ts";
import { synthesizeSpeech } from "../../workflows/speech/create_speech.ts";
import { acceptChecked, quoteFor } from "../../workflows/tasks/accept_generation.ts";
import type { Endpoint } from "../exchange.ts";
import { readPreferences } from "../prefer.ts";
import { readJson } from "../read_json.ts";
import { acceptOrReplay, callOf, requestedModel, respondWithTask } from "./create_generation.ts";
import { SPEECH_REQUEST } from "./generation_requests.ts";
import { noticeHeaders } from "./retrieve_model.ts";
import { requireAvailableUpstream, sendAudio } from "./send_audio.ts";
import type { TaskEndpointDeps } from "./tasks.ts";

/**
 * POST /v1/audio/speech: responds with the audio. With `Prefer: respond-async` with a task (202). With an
 * `Idempotency-Key` a task makes the audio and the request waits for it, so that a repeated request gets the
 * same audio and pays once.
 */
export function createSpeech(deps: TaskEndpointDeps, route: Route): Endpoint {
  return async function createSpeech(c) {
    const body = SPEECH_REQUEST.check(await readJson(c)) as unknown as
      & SpeechBody
      & { callback_url?: string };
    const identity = identifyRequest(c.req.header("idempotency-key") ?? null, route.path, body);
    const { respondAsync } = readPreferences(c);
    const accept = async () => {
      const model = requestedModel(c, body.model, route);
      const call = callOf(c, identity, body.callback_url);
      const checked = checkSpeech(model, body);
      if (!respondAsync) requireAvailableUpstream(deps, call.config, model);
      return { model, created: await acceptChecked(deps.tasks, call, model, checked) };
    };
    if (respondAsync) return await respondWithTask(deps, c, identity, accept);
    if (identity !== null) {
      return await sendAudio(deps, c, identity, await acceptOrReplay(deps, c, identity, accept));
    }
    const model = requestedModel(c, body.model, route);
    const { requestId, clientRequestId, config, account } = callOf(c, null, body.callback_url);
    const { job, maxUsage: most } = checkSpeech(model, body);
    const { ledger, media } = deps.tasks;
    const bytes = await synthesizeSpeech({ ledger, media }, {
      requestId,
      clientRequestId,
      config,
      account: account.id,
      model,
      quote: quoteFor(config, account, model, most),
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
