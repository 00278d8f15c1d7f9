import type { SpeechRequest } from "../../../schemas/requests.ts";
import type { Route } from "../../platform/config/config.ts";
import { identifyRequest } from "../../domain/idempotency/key.ts";
import { acceptAwaitedSpeech, acceptSpeech } from "../../workflows/speech/accept_speech.ts";
import { awaitSpeech } from "../../workflows/speech/await_speech.ts";
import { isOver } from "../../workflows/tasks/task.ts";
import type { BodyEndpoint } from "../exchange.ts";
import { readPreferences } from "../prefer.ts";
import {
  acceptOrReplay,
  callOf,
  noteUpstreamTime,
  requestedModel,
  respondWithTask,
} from "./create_generation.ts";
import { sendAudio } from "./send_audio.ts";
import type { TaskEndpointDeps } from "./tasks.ts";

/** POST /v1/audio/speech: a task makes the audio. With `Prefer: respond-async` it is the response, else the audio. */
export function createSpeech(deps: TaskEndpointDeps, route: Route): BodyEndpoint<SpeechRequest> {
  return async function createSpeech(c, body) {
    const identity = identifyRequest(c.req.header("idempotency-key") ?? null, route.path, body);
    const { respondAsync } = readPreferences(c);
    const accept = async () => {
      const model = requestedModel(c, body.model, route);
      const call = callOf(c, identity, body.callback_url);
      const create = respondAsync ? acceptSpeech : acceptAwaitedSpeech;
      return { model, created: await create(deps.tasks, call, model, body) };
    };
    if (respondAsync) return await respondWithTask(deps, c, identity, accept);
    const accepted = await acceptOrReplay(deps, c, identity, accept);
    const { created } = accepted;
    // Tasks are limited by the plan; any number of repeats could wait for one.
    const release = created.isReplay && !isOver(created.row.status) ? deps.waits.take(c) : null;
    using stop = deps.stopping(c);
    const audio = await awaitSpeech(deps.tasks, {
      created,
      identity,
      config: c.env.config,
      client: c.req.raw.signal,
      stop: stop.signal,
    }).finally(async () => {
      release?.();
      await noteUpstreamTime(deps, c, created.row);
    });
    return sendAudio(audio, accepted);
  };
}
