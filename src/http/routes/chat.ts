import { CHAT_REQUEST } from "../endpoints/charged_requests.ts";
import { chatCompletions } from "../endpoints/chat_completions.ts";
import { ANSWERED } from "./parameters.ts";
import { operationRoute, type RouteArea } from "./route.ts";

export const chatRoutes: RouteArea = {
  title: "Chat",
  routes: [
    operationRoute({
      operation: "chat",
      serves: "chat",
      method: "POST",
      path: "/chat/completions",
      auth: "api_key",
      isCharged: true,
      summary: "Create a chat completion",
      description:
        "OpenAI's Chat Completions. With `stream: true` the response is a stream of server-sent events.",
      request: CHAT_REQUEST,
      parameters: ANSWERED,
      responses: {
        200: {
          description: "The completion, or with `stream: true` its events.",
          content: { "application/json": "ChatCompletion", "text/event-stream": null },
        },
      },
      example: {
        body: {
          model: "sim-chat",
          messages: [
            { role: "system", content: "Answer in one sentence." },
            { role: "user", content: "Why is the sky blue?" },
          ],
          max_tokens: 100,
        },
      },
      handler: chatCompletions,
    }),
  ],
};
