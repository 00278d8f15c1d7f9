import type { MessagesRequest } from "../../../schemas/requests.ts";
import { noteBody } from "../../domain/requests/note_body.ts";
import type { Model } from "../../platform/config/config.ts";
import { countPrompt } from "../../workflows/chat/count_prompt.ts";
import { messagesDialect } from "../dialects/messages/dialect.ts";
import {
  asksForThinking,
  MESSAGES_NAMES,
  readMessagesRequest,
} from "../dialects/messages/read_request.ts";
import { inClientTerms, type TranslatedChat } from "../dialects/translated.ts";
import { accountOf, type BodyEndpoint, sendJson } from "../exchange.ts";
import { answerOnce } from "./answer_once.ts";
import { answerChat, type ChatEndpointDeps, chatModel } from "./answer_chat.ts";

/** POST /v1/messages */
export function createMessage(deps: ChatEndpointDeps): BodyEndpoint<MessagesRequest> {
  return answerOnce(deps, async function createMessage(c, body, claim) {
    if (c.env.logged !== null) noteBody(c.env.logged, inOpenAiTerms(body));
    const model = chatModel(c, body.model);
    const translated = translate(model, body);
    const { request, ignored } = translated;
    const headers = { "request-id": c.env.requestId };
    const dialect = messagesDialect(asksForThinking(body));
    try {
      return await answerChat(c, deps, { model, request, dialect, ignored, claim, headers });
    } catch (error) {
      throw inClientTerms(error, translated.paths, MESSAGES_NAMES);
    }
  });
}

/** What receipts and the request log keep of a body: `metadata.user_id` is what OpenAI's APIs call `user`. */
function inOpenAiTerms({ model, stream, metadata }: MessagesRequest): Record<string, unknown> {
  const { user_id: user, ...rest } = metadata ?? {};
  return { model, stream, user, metadata: rest };
}

/** POST /v1/messages/count_tokens: the tokens of a request, without an answer. Costs nothing. */
export function countMessageTokens({ chat }: ChatEndpointDeps): BodyEndpoint<MessagesRequest> {
  return async function countMessageTokens(c, body) {
    const model = chatModel(c, body.model);
    const { request, paths } = translate(model, body);
    try {
      const counted = { config: c.env.config, account: accountOf(c), model, request };
      const input_tokens = await countPrompt(chat.upstreams, counted);
      const headers = { "request-id": c.env.requestId };
      return sendJson(JSON.stringify({ input_tokens }), 200, headers);
    } catch (error) {
      throw inClientTerms(error, paths, MESSAGES_NAMES);
    }
  };
}

/** The request for the engine. */
export function translate(model: Model, body: MessagesRequest): TranslatedChat {
  return readMessagesRequest(body, { reasons: model.capabilities.has("reasoning") });
}
