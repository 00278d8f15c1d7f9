import type { ChatRequest } from "../../../schemas/requests.ts";
import { readChatRequest } from "../dialects/read_chat_request.ts";
import { chatCompletionsDialect } from "../dialects/chat_completions.ts";
import type { BodyEndpoint } from "../exchange.ts";
import { answerOnce } from "./answer_once.ts";
import { answerChat, type ChatEndpointDeps, chatModel } from "./answer_chat.ts";

/** POST /v1/chat/completions */
export function chatCompletions(deps: ChatEndpointDeps): BodyEndpoint<ChatRequest> {
  return answerOnce(deps, function chatCompletions(c, body, claim) {
    const model = chatModel(c, body.model);
    const { request, ignored } = readChatRequest(body, model);
    const dialect = chatCompletionsDialect(request);
    return answerChat(c, deps, { model, request, dialect, ignored, claim });
  });
}
