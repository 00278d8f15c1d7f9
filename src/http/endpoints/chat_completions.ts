import { modelWithArticle } from "../../model_types/model_types.ts";
import { ApiError } from "../../lib/api_error.ts";
import { type ChatDeps, completeChat } from "../../workflows/chat/complete_chat.ts";
import type { Limiter } from "../../domain/limits/limiter.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";
import { bodySchema } from "../body_schema.ts";
import { accountOf, type Endpoint, sendJson } from "../exchange.ts";
import { readJson } from "../read_json.ts";
import { noticeHeaders, usableModel } from "./retrieve_model.ts";
import schema from "../../../schemas/requests/chat_completions.schema.json" with { type: "json" };

export const chatRequest = bodySchema<ChatRequest>(schema, { nullIsAbsent: true });

const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  // Keeps proxies from buffering the stream.
  "x-accel-buffering": "no",
};

export interface ChatEndpointDeps {
  chat: ChatDeps;
  limiter: Limiter;
}

/** POST /v1/chat/completions */
export function chatCompletions({ chat, limiter }: ChatEndpointDeps): Endpoint {
  return async function chatCompletions(c) {
    const request = chatRequest(await readJson(c));
    const model = usableModel(c, request.model);
    if (model.type !== "chat") {
      throw new ApiError(
        "capability_not_supported",
        `${model.id} is ${modelWithArticle(model.type)}, not a chat model. ` +
          "GET /v1/models?type=chat lists chat models.",
        { param: "model" },
      );
    }
    const answer = await completeChat(chat, {
      requestId: c.env.requestId,
      clientRequestId: c.env.clientRequestId,
      config: c.env.config,
      account: accountOf(c),
      model,
      request,
      tokenRate: {
        limiter,
        key: `${c.env.caller!.key} tokens`,
        perMinute: c.env.accountPlan!.rates.tokensPerMinute,
      },
      requestBody: c.env.body,
      signal: c.req.raw.signal,
    });
    const notice = noticeHeaders(model);
    return "json" in answer
      ? sendJson(answer.json, 200, notice)
      : new Response(answer.stream, { headers: { ...STREAM_HEADERS, ...notice } });
  };
}
