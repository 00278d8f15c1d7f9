import type { ResponsesRequest } from "../../../schemas/requests.ts";
import type { ResponseStore, StoredResponse } from "../../domain/responses/response_store.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Model } from "../../platform/config/config.ts";
import type { Log } from "../../platform/telemetry/log.ts";
import { loadItems } from "../dialects/responses/load_items.ts";
import {
  readResponsesRequest,
  type TranslatedResponse,
} from "../dialects/responses/read_request.ts";
import type { ReasoningBox } from "../dialects/responses/reasoning_box.ts";
import type { JsonFields } from "../dialects/translated.ts";
import { accountOf, type HttpContext } from "../exchange.ts";

export interface ResponsesDeps {
  responses: {
    readonly store: ResponseStore;
    readonly box: ReasoningBox;
    readonly log: Pick<Log, "error">;
  };
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

/** A response of the calling account. */
export async function requireResponse(
  { responses: { store } }: ResponsesDeps,
  c: HttpContext,
  id: string,
): Promise<StoredResponse> {
  const stored = await store.find(accountOf(c).id, id);
  if (stored === null) throw noSuchResponse();
  return stored;
}

export function noSuchResponse(): ApiError {
  return new ApiError(
    "response_not_found",
    "There is no such response. It was not kept (store: false), was deleted, or is too old.",
    { param: "response_id" },
  );
}
