import type { Adapter, UpstreamTarget } from "../../src/upstream/adapter.ts";
import { join, lowerCase } from "../dialect/write.ts";
import { readFault } from "./fault.ts";
import { imageTokens } from "./image_tokens.ts";
import { readContent } from "./reply.ts";
import { contentBody } from "./request.ts";
import { ContentReader } from "./stream.ts";

/** Google's Gemini API. */
export const adapter: Adapter = {
  types: ["chat"],
  baseUrl: "https://generativelanguage.googleapis.com/v1beta",
  chat: {
    write: (request, target) => ({
      method: "POST",
      url: addressOf(target, request.stream === true),
      headers: {
        "content-type": "application/json",
        "accept": request.stream === true ? "text/event-stream" : "application/json",
        ...(target.apiKey === null ? {} : { "x-goog-api-key": target.apiKey }),
        ...lowerCase(target.headers),
      },
      body: JSON.stringify({ ...contentBody(request, target), ...target.extraBody }),
    }),
    read: ({ body }) => readContent(body),
    reader: () => new ContentReader(),
    fault: readFault,
    extras: ["top_k"],
    imageTokens,
  },
};

/** A model name that contains a collection (`tunedModels/…`) is used as it is. */
function addressOf({ baseUrl, model }: UpstreamTarget, streamed: boolean): string {
  const path = model.includes("/") ? model : `models/${model}`;
  const method = streamed ? "streamGenerateContent?alt=sse" : "generateContent";
  return join(baseUrl, `/${encodeURI(path)}:${method}`);
}
