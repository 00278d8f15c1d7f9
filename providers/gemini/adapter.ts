import type { Adapter, UpstreamTarget } from "../../src/upstream/adapter.ts";
import { join } from "../dialect/write.ts";
import { geminiHeaders, modelPath } from "./call.ts";
import { embeddings } from "./embeddings.ts";
import { readFault } from "./fault.ts";
import { imageTokens } from "./image_tokens.ts";
import { readContent } from "./reply.ts";
import { contentBody } from "./request.ts";
import { ContentReader } from "./stream.ts";

/** Google's Gemini API. */
export const adapter: Adapter = {
  types: ["chat", "embedding"],
  baseUrl: "https://generativelanguage.googleapis.com/v1beta",
  chat: {
    write: (request, target) => ({
      method: "POST",
      url: addressOf(target, request.stream === true),
      headers: geminiHeaders(
        target,
        request.stream === true ? "text/event-stream" : "application/json",
      ),
      body: JSON.stringify({ ...contentBody(request, target), ...target.extraBody }),
    }),
    read: ({ body }) => readContent(body),
    reader: () => new ContentReader(),
    fault: readFault,
    extras: ["top_k"],
    imageTokens,
  },
  embeddings,
};

function addressOf(target: UpstreamTarget, streamed: boolean): string {
  const method = streamed ? "streamGenerateContent?alt=sse" : "generateContent";
  return join(target.baseUrl, `/${encodeURI(modelPath(target))}:${method}`);
}
