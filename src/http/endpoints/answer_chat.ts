import type { AnswerClaim } from "../../domain/idempotency/answers.ts";
import { modelWithArticle } from "../../model_types/model_types.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Model } from "../../platform/config/config.ts";
import { usableModel } from "../../platform/config/usable_model.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import { type ChatDeps, completeChat } from "../../workflows/chat/complete_chat.ts";
import type { ChatDialect } from "../../workflows/chat/dialect.ts";
import { ignoredHeader } from "../dialects/translated.ts";
import { accountOf, type HttpContext, logModel, sendJson } from "../exchange.ts";
import type { AnswersDeps } from "./answer_once.ts";
import { noticeHeaders } from "./retrieve_model.ts";
import { STREAM_HEADERS } from "./stream_headers.ts";

export interface ChatEndpointDeps extends AnswersDeps {
  chat: ChatDeps;
}

/** The chat model that a request of any dialect names. */
export function chatModel(c: HttpContext, id: string): Model {
  const model = usableModel(c.env.config, accountOf(c), id);
  logModel(c, model);
  if (model.type === "chat") return model;
  throw new ApiError(
    "capability_not_supported",
    `${model.id} is ${modelWithArticle(model.type)}, not a chat model. ` +
      "GET /v1/models?type=chat lists chat models.",
    { param: "model" },
  );
}

/** A chat as an endpoint hands it to the engine. */
export interface DialectChat {
  readonly model: Model;
  readonly request: ChatRequest;
  readonly dialect: ChatDialect;
  /** Names of fields that were left out already. */
  readonly ignored: readonly string[];
  /** Keeps the answer for repeats of the request. */
  readonly claim: AnswerClaim | null;
  /** Of the response. */
  readonly headers?: Record<string, string>;
}

/** Runs a chat and sends its answer, whole or as a stream. */
export async function answerChat(
  c: HttpContext,
  { chat }: ChatEndpointDeps,
  { model, request, dialect, ignored, claim, headers }: DialectChat,
): Promise<Response> {
  const { config, requestId, clientRequestId, caller, accountPlan, body, logged } = c.env;
  const answer = await completeChat(chat, {
    requestId,
    clientRequestId,
    config,
    account: accountOf(c),
    model,
    request,
    dialect,
    claim,
    tokenRate: { apiKey: caller!.key, perMinute: accountPlan!.rates.tokensPerMinute },
    requestBody: body,
    // A client that repeats its request is to find the answer, even if its connection broke.
    signal: claim === null ? c.req.raw.signal : new AbortController().signal,
    logged: logged!,
  });
  const own = {
    ...noticeHeaders(model),
    ...ignoredHeader(ignored, answer.ignored),
    ...headers,
  };
  return "json" in answer
    ? sendJson(answer.json, 200, own)
    : new Response(answer.stream, { headers: { ...STREAM_HEADERS, ...own } });
}
