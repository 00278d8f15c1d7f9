import { MESSAGES_REQUEST } from "../endpoints/charged_requests.ts";
import { countMessageTokens, createMessage } from "../endpoints/messages.ts";
import { ANSWERED } from "./parameters.ts";
import { json, operationRoute, type RouteArea } from "./route.ts";

const BODY = {
  model: "sim-chat",
  max_tokens: 100,
  system: "Answer in one sentence.",
  messages: [{ role: "user" as const, content: "Why is the sky blue?" }],
};

export const messageRoutes: RouteArea = {
  title: "Messages",
  routes: [
    operationRoute({
      operation: "messages",
      serves: "chat",
      method: "POST",
      path: "/messages",
      auth: "api_key",
      isCharged: true,
      summary: "Create a message",
      description:
        "Anthropic's Messages API, on every chat model. The API key may be sent as `x-api-key`; errors have Anthropic's form. " +
        "With `stream: true` the response is a stream of server-sent events.",
      request: MESSAGES_REQUEST,
      parameters: ANSWERED,
      responses: {
        200: {
          description: "The message, or with `stream: true` its events.",
          content: { "application/json": "Message", "text/event-stream": null },
        },
      },
      example: { body: BODY },
      handler: createMessage,
    }),
    operationRoute({
      operation: "messages",
      serves: "chat",
      method: "POST",
      path: "/messages/count_tokens",
      auth: "api_key",
      summary: "Count the tokens of a message",
      description:
        "Estimates the input tokens of a request to `/messages` with the gateway's own tokenizer. Costs nothing.",
      request: MESSAGES_REQUEST,
      responses: { 200: json("MessageTokenCount", "The count.") },
      example: { body: BODY },
      handler: countMessageTokens,
    }),
  ],
};
