import type { ChatRequest } from "../../../schemas/requests.ts";
import { modelWithArticle } from "../../model_types/model_types.ts";
import { ApiError } from "../../lib/api_error.ts";
import { usableModel } from "../../platform/config/usable_model.ts";
import { type ChatDeps, completeChat } from "../../workflows/chat/complete_chat.ts";
import { chatCompletionsDialect } from "../dialects/chat_completions.ts";
import { accountOf, type BodyEndpoint, sendJson } from "../exchange.ts";
import { noticeHeaders } from "./retrieve_model.ts";

const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  // Keeps proxies from buffering the stream.
  "x-accel-buffering": "no",
};

export interface ChatEndpointDeps {
  chat: ChatDeps;
}

/** POST /v1/chat/completions */
export function chatCompletions({ chat }: ChatEndpointDeps): BodyEndpoint<ChatRequest> {
  return async function chatCompletions(c, request) {
    const { config, requestId, clientRequestId, caller, accountPlan, body, logged } = c.env;
    const account = accountOf(c);
    const model = usableModel(config, account, request.model);
    if (model.type !== "chat") {
      throw new ApiError(
        "capability_not_supported",
        `${model.id} is ${modelWithArticle(model.type)}, not a chat model. ` +
          "GET /v1/models?type=chat lists chat models.",
        { param: "model" },
      );
    }
    const answer = await completeChat(chat, {
      requestId,
      clientRequestId,
      config,
      account,
      model,
      request,
      dialect: chatCompletionsDialect(request),
      tokenRate: { apiKey: caller!.key, perMinute: accountPlan!.rates.tokensPerMinute },
      requestBody: body,
      signal: c.req.raw.signal,
      logged: logged!,
    });
    const notice = noticeHeaders(model);
    return "json" in answer
      ? sendJson(answer.json, 200, notice)
      : new Response(answer.stream, { headers: { ...STREAM_HEADERS, ...notice } });
  };
}
