import type { ResponsesRequest } from "../../../schemas/requests.ts";
import { identifyRequest } from "../../domain/idempotency/key.ts";
import type { Model } from "../../platform/config/config.ts";
import type { Heading } from "../../workflows/chat/dialect.ts";
import { type AcceptDeps, acceptResponse } from "../../workflows/responses/accept_response.ts";
import { responseIdOf } from "../../workflows/tasks/response_of_task.ts";
import { newBackground, toCurrentResponse } from "../dialects/responses/background.ts";
import { readRecord } from "../dialects/responses/load_items.ts";
import { RESPONSES_NAMES } from "../dialects/responses/read_request.ts";
import { ignoredHeader, inClientTerms, type JsonFields } from "../dialects/translated.ts";
import { type BodyEndpoint, type HttpContext, sendJson } from "../exchange.ts";
import { type ChatEndpointDeps, chatModel } from "./answer_chat.ts";
import { type Accepted, acceptOrReplay, callOf } from "./create_generation.ts";
import { noticeHeaders } from "./retrieve_model.ts";
import { requireResponse, type ResponsesDeps, translateResponse } from "./stored_responses.ts";
import type { TaskEndpointDeps } from "./tasks.ts";

type BackgroundDeps = ChatEndpointDeps & ResponsesDeps & TaskEndpointDeps;

/** A response that was accepted now, or before with the same `Idempotency-Key`. */
interface AcceptedResponse extends Accepted {
  /** As its client gets it; absent from one that was accepted before. */
  readonly response?: JsonFields;
  readonly ignored?: readonly string[];
}

/** POST /v1/responses with `background`: the response is returned at once, and a task makes it. */
export function createBackgroundResponse(deps: BackgroundDeps): BodyEndpoint<ResponsesRequest> {
  return async function createBackgroundResponse(c, body) {
    const identity = identifyRequest(c.req.header("idempotency-key") ?? null, c.env.path, body);
    const accept = () => acceptBackground(deps, c, body, identity);
    const accepted: AcceptedResponse = await acceptOrReplay(deps, c, identity, accept);
    const { model, created: { row, isReplay }, ignored = [] } = accepted;
    const response = isReplay
      ? await currentResponse(deps, c, responseIdOf(row.request_id))
      : accepted.response;
    return sendJson(JSON.stringify(response), 200, {
      ...(model === null ? {} : noticeHeaders(model)),
      ...ignoredHeader(ignored),
      ...(isReplay ? { "idempotent-replayed": "true" } : {}),
    });
  };
}

async function acceptBackground(
  deps: BackgroundDeps,
  c: HttpContext,
  body: ResponsesRequest,
  identity: ReturnType<typeof identifyRequest>,
): Promise<AcceptedResponse> {
  const model = chatModel(c, body.model);
  const { translated, input } = await translateResponse(deps, c, model, body);
  const background = newBackground(headingOf(c, model), body, translated, input);
  const { caller, accountPlan } = c.env;
  const call = {
    ...callOf(c, identity, null),
    tokenRate: { apiKey: caller!.key, perMinute: accountPlan!.rates.tokensPerMinute },
  };
  try {
    const created = await acceptResponse(acceptDeps(deps), call, model, background);
    return { model, created, response: background.response, ignored: translated.ignored };
  } catch (error) {
    throw inClientTerms(error, translated.paths, RESPONSES_NAMES);
  }
}

function acceptDeps({ chat, tasks, responses }: BackgroundDeps): AcceptDeps {
  const { upstreams, ledger, imageHosts } = chat;
  return { upstreams, ledger, imageHosts, creation: tasks.creation, store: responses.store };
}

function headingOf(c: HttpContext, { id: model }: Model): Heading {
  const { requestId, config } = c.env;
  const created = Math.floor(Date.now() / 1000);
  return { requestId, model, created, fingerprint: `fp_${config.version}` };
}

async function currentResponse(
  deps: BackgroundDeps,
  c: HttpContext,
  id: string,
): Promise<JsonFields> {
  const stored = await requireResponse(deps, c, id);
  return toCurrentResponse(readRecord(stored).response, stored.task);
}
