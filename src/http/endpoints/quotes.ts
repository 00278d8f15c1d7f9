import type { QuoteRequest } from "../../../schemas/requests.ts";
import { snapshotOf } from "../../domain/pricing/snapshot.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Config, Route } from "../../platform/config/config.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import { type ChargedRequest, quoteRequest } from "../../workflows/quote/quote_request.ts";
import { readChatRequest } from "../dialects/read_chat_request.ts";
import { type BodyEndpoint, type HttpContext, sendJson } from "../exchange.ts";
import { chatModel } from "./answer_chat.ts";
import {
  CHAT_REQUEST,
  dramaRequest,
  EMBEDDINGS_REQUEST,
  generationRequest,
  MESSAGES_REQUEST,
  RESPONSES_REQUEST,
  SPEECH_REQUEST,
} from "./charged_requests.ts";
import { isPipeline } from "../../model_types/model_types.ts";
import { callOf, notReleased, requestedModel } from "./create_generation.ts";
import { translate } from "./messages.ts";
import { type ResponsesDeps, translateResponse } from "./stored_responses.ts";
import type { TaskEndpointDeps } from "./tasks.ts";

interface QuoteEndpointDeps extends TaskEndpointDeps, ResponsesDeps {
  upstreams: Upstreams;
}

/** POST /v1/quotes: the maximum cost of a request, and whether the balance covers it. */
export function createQuote(deps: QuoteEndpointDeps): BodyEndpoint<QuoteRequest> {
  return async function createQuote(c, { path, body }) {
    const { config } = c.env;
    const route = chargedRoute(config, path);
    const request = await chargedRequest(deps, c, route, body);
    const { model: id } = request.body;
    const model = request.kind === "chat" ? chatModel(c, id) : requestedModel(c, id, route);
    const isTask = request.kind === "media" || request.kind === "drama";
    const call = callOf(c, null, isTask ? request.body.callback_url : null);
    const quote = await quoteRequest(deps, call, model, request);
    return sendJson(JSON.stringify({
      object: "quote",
      path: route.path,
      model: model.id,
      currency: config.service.currency,
      amount: quote.amount,
      usage: quote.maxUsage,
      max_tokens: quote.maxTokens,
      price: snapshotOf(quote.price),
      parts: quote.parts,
      from: quote.payment,
      covered: quote.isCovered,
    }));
  };
}

const CHARGED = new Set([
  ...["chat", "responses", "messages", "embeddings", "speech", "generation"],
]);

async function chargedRequest(
  deps: ResponsesDeps,
  c: HttpContext,
  route: Route,
  body: unknown,
): Promise<ChargedRequest> {
  if (route.operation === "responses") {
    const asked = RESPONSES_REQUEST.check(body);
    const { translated } = await translateResponse(deps, c, chatModel(c, asked.model), asked);
    return { kind: "chat", body: translated.request };
  }
  if (route.operation === "messages") {
    const asked = MESSAGES_REQUEST.check(body);
    return { kind: "chat", body: translate(chatModel(c, asked.model), asked).request };
  }
  if (route.operation === "chat") {
    const asked = CHAT_REQUEST.check(body);
    return { kind: "chat", body: readChatRequest(asked, chatModel(c, asked.model)).request };
  }
  if (route.operation === "embeddings") {
    return { kind: "embedding", body: EMBEDDINGS_REQUEST.check(body) };
  }
  if (route.operation === "speech") return { kind: "media", body: SPEECH_REQUEST.check(body) };
  if (isPipeline(route.type)) return { kind: "drama", body: dramaRequest(route).check(body) };
  const request = generationRequest(route);
  if (request === undefined) throw notReleased(route);
  return { kind: "media", body: request.check(body) };
}

function chargedRoute(config: Config, path: string): Route {
  const wanted = path.replace(/^\/v1(?=\/)/, "");
  const charged = config.routes.filter(({ operation }) => CHARGED.has(operation));
  const route = charged.find((route) => route.path === wanted);
  if (route?.stage === "planned") throw notReleased(route);
  if (route !== undefined) return route;
  const known = charged.map((route) => route.path).join(", ");
  throw new ApiError("invalid_value", `path must be one of ${known}.`, { param: "path" });
}
