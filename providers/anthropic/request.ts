import type { ChatRequest, UpstreamTarget } from "../../src/upstream/adapter.ts";
import { callId } from "../dialect/call_id.ts";
import {
  conversationOf,
  joinTexts,
  type Part,
  type Text,
  type Turn,
} from "../dialect/conversation.ts";
import { compact, type Json, record } from "../dialect/json.ts";
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
    messages: turns.map(messageOf).filter(({ content }) => content.length > 0),
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
    top_k: thinking === undefined ? parameters.number(request.top_k) : undefined,
    cache_control: record(request.cache_control) ?? undefined,
    stream: request.stream === true ? true : undefined,
  });
}

/** The API has no mode for JSON without a schema: the system prompt asks for it. */
function systemOf(system: readonly Text[], format: parameters.Format): Json[] | string | undefined {
  const texts: Text[] = format === "json" ? [...system, JSON_ONLY] : [...system];
  if (texts.length === 0) return undefined;
  // Blocks are needed only to say where the cache may end.
  return texts.some(({ cache }) => cache !== undefined)
    ? texts.flatMap(blocksOf)
    : joinTexts(texts);
}

const JSON_ONLY: Text = { kind: "text", text: "Answer with one JSON object and nothing else." };

function messageOf({ role, parts }: Turn): { role: string; content: Json[] } {
  return { role, content: parts.flatMap(blocksOf) };
}

function blocksOf(part: Part): Json[] {
  switch (part.kind) {
    case "text":
      return [cached({ type: "text", text: part.text }, part)];
    case "thinking":
      // The provider takes back only what it has signed.
      return part.signature === null
        ? []
        : [{ type: "thinking", thinking: part.text, signature: part.signature }];
    case "redacted":
      return [{ type: "redacted_thinking", data: part.data }];
    case "link":
      return [cached({ type: "image", source: { type: "url", url: part.url } }, part)];
    case "bytes": {
      const source = { type: "base64", media_type: part.mime, data: part.base64 };
      return [cached({ type: blockType(part.mime, part.param), source }, part)];
    }
    case "call": {
      const { name, input } = part;
      return [cached({ type: "tool_use", id: idOf(part.id), name, input }, part)];
    }
    case "result": {
      const content = part.parts.flatMap(blocksOf);
      const is_error = part.isError ? true : undefined;
      const block = { type: "tool_result", tool_use_id: idOf(part.id), content, is_error };
      return [cached(compact(block), part)];
    }
  }
}

function cached(block: Json, { cache }: { readonly cache?: Json }): Json {
  return cache === undefined ? block : { ...block, cache_control: cache };
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
