import type { ResponsesRequest } from "../../../schemas/requests.ts";
import type { ResponseStore } from "../../domain/responses/response_store.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Model } from "../../platform/config/config.ts";
import type { Log } from "../../platform/telemetry/log.ts";
import { responsesDialect } from "../dialects/responses/dialect.ts";
import { loadItems, readRecord, type ResponseRecord } from "../dialects/responses/load_items.ts";
import {
  readResponsesRequest,
  RESPONSES_NAMES,
  type TranslatedResponse,
} from "../dialects/responses/read_request.ts";
import type { ReasoningBox } from "../dialects/responses/reasoning_box.ts";
import { toClientItems } from "../dialects/responses/response_object.ts";
import { inClientTerms, type JsonFields } from "../dialects/translated.ts";
import {
  accountOf,
  type BodyEndpoint,
  type Endpoint,
  type HttpContext,
  sendJson,
} from "../exchange.ts";
import { readPage, sendJsonPage } from "../paging.ts";
import { answerOnce } from "./answer_once.ts";
import { answerChat, type ChatEndpointDeps, chatModel } from "./answer_chat.ts";

export interface ResponsesDeps {
  responses: {
    readonly store: ResponseStore;
    readonly box: ReasoningBox;
    readonly log: Pick<Log, "error">;
  };
}

/** POST /v1/responses */
export function createResponse(
  deps: ChatEndpointDeps & ResponsesDeps,
): BodyEndpoint<ResponsesRequest> {
  return answerOnce(deps, async function createResponse(c, body, claim) {
    const model = chatModel(c, body.model);
    const { translated, input } = await translateResponse(deps, c, model, body);
    const { request, declared, ignored, paths } = translated;
    const save = body.store === false ? undefined : saveTo(deps, c, input);
    const dialect = responsesDialect({ body, declared, box: deps.responses.box, save });
    try {
      return await answerChat(c, deps, { model, request, dialect, ignored, claim });
    } catch (error) {
      throw inClientTerms(error, paths, RESPONSES_NAMES);
    }
  });
}

/** The request for the engine, with all that it continues, and its own items. */
export async function translateResponse(
  { responses: { store, box } }: ResponsesDeps,
  c: HttpContext,
  model: Model,
  body: ResponsesRequest,
): Promise<{ translated: TranslatedResponse; input: readonly JsonFields[] }> {
  const { items, input } = await loadItems(store, accountOf(c).id, body);
  const reasons = model.capabilities.has("reasoning");
  return { translated: readResponsesRequest(body, { items, box, reasons }), input };
}

/** The answer is paid for and reaches the client also where it cannot be kept: only a later request misses it. */
function saveTo(
  { responses: { store, log } }: ResponsesDeps,
  c: HttpContext,
  input: readonly JsonFields[],
): (response: JsonFields) => Promise<void> {
  const { requestId } = c.env;
  const account = accountOf(c).id;
  return async function saveResponse(response) {
    const { id, previous_response_id: previous } = response as {
      id: string;
      previous_response_id: string | null;
    };
    try {
      const base = id.slice("resp_".length);
      const named = input.map((item, at) => ({
        id: `item_${base}${String(at).padStart(3, "0")}`,
        ...item,
      }));
      await store.save({ id, account, previous, body: JSON.stringify({ response, input: named }) });
    } catch (error) {
      log.error("response not stored", { request_id: requestId, error });
    }
  };
}

/** GET /v1/responses/{response_id} */
export function retrieveResponse(deps: ResponsesDeps): Endpoint {
  return async function retrieveResponse(c) {
    const { response } = await findResponse(deps, c);
    const include = c.req.queries("include[]") ?? c.req.queries("include") ?? [];
    const output = toClientItems(response.output, include.includes("reasoning.encrypted_content"));
    return sendJson(JSON.stringify({ ...response, output }));
  };
}

/** DELETE /v1/responses/{response_id} */
export function deleteResponse({ responses: { store } }: ResponsesDeps): Endpoint {
  return async function deleteResponse(c) {
    const id = c.req.param("response_id")!;
    if (!await store.delete(accountOf(c).id, id)) throw noSuchResponse();
    return sendJson(JSON.stringify({ id, object: "response", deleted: true }));
  };
}

/** GET /v1/responses/{response_id}/input_items */
export function listInputItems(deps: ResponsesDeps): Endpoint {
  return async function listInputItems(c) {
    const { input } = await findResponse(deps, c);
    const { limit, after, order } = readPage(c);
    const items = input as readonly (JsonFields & { id: string })[];
    const ordered = order === "asc" ? [...items] : items.toReversed();
    const start = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
    const page = ordered.slice(start, start + limit);
    return sendJsonPage(page, start + limit < ordered.length);
  };
}

/** POST /v1/responses/{response_id}/cancel: what is stored has ended, and is returned as it is. */
export function cancelResponse(deps: ResponsesDeps): Endpoint {
  return retrieveResponse(deps);
}

async function findResponse(
  { responses: { store } }: ResponsesDeps,
  c: HttpContext,
): Promise<ResponseRecord> {
  const stored = await store.find(accountOf(c).id, c.req.param("response_id")!);
  if (stored === null) throw noSuchResponse();
  return readRecord(stored);
}

function noSuchResponse(): ApiError {
  return new ApiError(
    "response_not_found",
    "There is no such response. It was not kept (store: false), was deleted, or is too old.",
    { param: "response_id" },
  );
}
