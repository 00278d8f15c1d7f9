import type { ChatRequest, UpstreamTarget } from "../../src/upstream/adapter.ts";
import { callId } from "../dialect/call_id.ts";
import {
  conversationOf,
  joinTexts,
  type Part,
  type Text,
  type Turn,
} from "../dialect/conversation.ts";
import { compact, type Json } from "../dialect/json.ts";
import * as parameters from "../dialect/parameters.ts";
import { refuse } from "../dialect/write.ts";
import { closeSchema } from "./schema.ts";
import { thinkingOf } from "./thinking.ts";
import { toolsOf } from "./tools.ts";

/** An output limit that all models support, where neither the request nor the model has one. */
const OUTPUT_TOKENS = 4096;

/** The body of POST /v1/messages. */
export function messagesBody(request: ChatRequest, target: UpstreamTarget): Json {
  parameters.refuseShapes(request, ["audio", "logprobs", "functions"]);
  if (typeof request.n === "number" && request.n > 1) {
    refuse("n", "This model gives one answer to a request: leave `n` out.");
  }
  const { system, turns } = conversationOf(request);
  const format = parameters.formatOf(request);
  const use = parameters.toolUseOf(request);
  const maxTokens = parameters.outputLimit(request) ?? target.maxOutputTokens ?? OUTPUT_TOKENS;
  const { thinking, effort } = thinkingOf(request, target.model, { turns, use, maxTokens });
  const temperature = parameters.number(request.temperature);
  const output = compact({
    effort,
    format: typeof format === "object"
      ? { type: "json_schema", schema: closeSchema(format.schema) }
      : undefined,
  });
  return compact({
    model: target.model,
    max_tokens: maxTokens,
    system: systemOf(system, format),
    messages: turns.map(messageOf),
    ...toolsOf(use, turns),
    thinking,
    output_config: Object.keys(output).length > 0 ? output : undefined,
    stop_sequences: parameters.stopTexts(request),
    // Thinking does not allow a temperature, and the provider's maximum is 1.
    temperature: thinking === undefined && temperature !== undefined
      ? Math.min(1, temperature)
      : undefined,
    // Newer models reject temperature and top_p together.
    top_p: thinking === undefined && temperature === undefined
      ? parameters.number(request.top_p)
      : undefined,
    stream: request.stream === true ? true : undefined,
  });
}

/** The API has no mode for JSON without a schema: the system prompt asks for it. */
function systemOf(system: readonly Text[], format: parameters.Format): string | Json[] | undefined {
  const asked: Text = { kind: "text", text: "Answer with one JSON object and nothing else." };
  const texts = format === "json" ? [...system, asked] : system;
  if (texts.some(({ cache }) => cache !== undefined)) return texts.map(blockOf);
  return texts.length === 0 ? undefined : joinTexts(texts);
}

function messageOf({ role, parts }: Turn): Json {
  return { role, content: parts.map(blockOf) };
}

function blockOf(part: Part): Json {
  const block = contentBlock(part);
  return "cache" in part ? { ...block, cache_control: part.cache } : block;
}

function contentBlock(part: Part): Json {
  switch (part.kind) {
    case "text":
      return { type: "text", text: part.text };
    case "link":
      return { type: "image", source: { type: "url", url: part.url } };
    case "bytes":
      return {
        type: blockType(part.mime, part.param),
        source: { type: "base64", media_type: part.mime, data: part.base64 },
      };
    case "call":
      return { type: "tool_use", id: idOf(part.id), name: part.name, input: part.input };
    case "result":
      return { type: "tool_result", tool_use_id: idOf(part.id), content: part.parts.map(blockOf) };
  }
}

/** The provider accepts these characters only; an id of another provider may have others. */
const CALL_ID = /^[A-Za-z0-9_-]+$/;

function idOf(id: string): string {
  return id === "" || CALL_ID.test(id) ? id : callId(id, 0);
}

function blockType(mime: string, param: string): string {
  if (mime.startsWith("image/")) return "image";
  if (mime === "application/pdf") return "document";
  refuse(param, "This model takes images and PDF documents.");
}
