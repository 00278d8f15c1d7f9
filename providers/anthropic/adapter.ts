import type { Adapter } from "../../src/upstream/adapter.ts";
import { join, lowerCase } from "../dialect/write.ts";
import { readFault } from "./fault.ts";
import { imageTokens } from "./image_tokens.ts";
import { readMessage } from "./reply.ts";
import { messagesBody } from "./request.ts";
import { MessageReader } from "./stream.ts";

const VERSION = "2023-06-01";

/** Anthropic's Messages API. */
export const adapter: Adapter = {
  types: ["chat"],
  baseUrl: "https://api.anthropic.com/v1",
  chat: {
    write: (request, target) => ({
      method: "POST",
      url: join(target.baseUrl, "/messages"),
      headers: {
        "content-type": "application/json",
        "accept": request.stream === true ? "text/event-stream" : "application/json",
        "anthropic-version": VERSION,
        ...(target.apiKey === null ? {} : { "x-api-key": target.apiKey }),
        ...lowerCase(target.headers),
      },
      body: JSON.stringify({ ...messagesBody(request, target), ...target.extraBody }),
    }),
    read: ({ body }) => readMessage(body),
    reader: () => new MessageReader(),
    fault: readFault,
    extras: ["top_k", "thinking", "cache_control"],
    imageTokens,
  },
};
