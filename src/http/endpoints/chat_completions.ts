import type { ChatRequest } from "../../../schemas/requests.ts";
import { chatCompletionsDialect } from "../dialects/chat_completions.ts";
import type { BodyEndpoint } from "../exchange.ts";
import { answerChat, type ChatEndpointDeps, chatModel } from "./answer_chat.ts";

/** POST /v1/chat/completions */
export function chatCompletions(deps: ChatEndpointDeps): BodyEndpoint<ChatRequest> {
  return function chatCompletions(c, request) {
    const model = chatModel(c, request.model);
    return answerChat(c, deps, { model, request, dialect: chatCompletionsDialect(request) });
  };
}
