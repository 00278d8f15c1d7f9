import type { ResponsesRequest } from "../../../../schemas/requests.ts";
import type { ChatRequest } from "../../../upstream/adapter.ts";
import {
  invalidField,
  type JsonFields,
  notSupported,
  type TranslatedChat,
  unknownNames,
} from "../translated.ts";
import { ItemReader, type PlacedItem } from "./read_items.ts";
import { type DeclaredTools, readTools } from "./read_tools.ts";
import type { ReasoningBox } from "./reasoning_box.ts";

const KNOWN = new Set([
  ...["model", "input", "instructions", "stream", "store", "previous_response_id", "tools"],
  ...["tool_choice", "parallel_tool_calls", "max_output_tokens", "temperature", "top_p", "text"],
  ...["reasoning", "include", "metadata", "user", "safety_identifier", "prompt_cache_key"],
  ...["prompt_cache_retention", "service_tier", "top_logprobs", "background", "conversation"],
  ...["prompt", "stream_options", "truncation", "max_tool_calls"],
]);
/** Fields that chat completions have too. */
const SHARED = [
  ...["stream", "temperature", "top_p", "user", "safety_identifier", "prompt_cache_key"],
  ...["prompt_cache_retention", "service_tier"],
];

/** How Responses call the engine's fields. */
export const RESPONSES_NAMES = {
  max_completion_tokens: "max_output_tokens",
  messages: "input",
  response_format: "text.format",
  reasoning_effort: "reasoning.effort",
};

/** A request as the engine takes it. */
export interface TranslatedResponse extends TranslatedChat {
  readonly declared: DeclaredTools;
}

export interface ReadOptions {
  /** Everything the model is to read, in order. */
  readonly items: readonly PlacedItem[];
  readonly box: ReasoningBox;
  /** Whether the model reasons. */
  readonly reasons: boolean;
}

/** A request of OpenAI's Responses API as the engine takes it. Throws an `ApiError` for what it cannot say. */
export function readResponsesRequest(
  body: ResponsesRequest,
  { items, box, reasons }: ReadOptions,
): TranslatedResponse {
  const fields: JsonFields = body;
  refuseUnable(fields);
  const reader = new ItemReader(box);
  for (const item of items) reader.add(item);
  const system = typeof fields.instructions === "string" && fields.instructions !== ""
    ? [{ message: { role: "system", content: fields.instructions }, path: "instructions" }]
    : [];
  const read = [...system, ...reader.end()];
  if (read.length === 0) throw invalidField("input", "must have an item");
  const reasoning = readReasoning(fields, reasons);
  const tools = readTools(fields);
  const limit = fields.max_output_tokens;
  const request = {
    model: body.model,
    messages: read.map(({ message }) => message),
    ...(typeof limit === "number" ? { max_completion_tokens: limit } : {}),
    ...Object.fromEntries(
      SHARED.filter((name) => isGiven(fields[name])).map((name) => [name, fields[name]]),
    ),
    ...tools.request,
    ...readText(fields),
    ...readLogprobs(fields),
    ...reasoning.request,
  };
  return {
    request: request as ChatRequest,
    declared: tools.declared,
    ignored: [...unknownNames(fields, KNOWN), ...tools.ignored, ...reasoning.ignored],
    paths: read.map(({ path }) => path),
  };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** What this service does not have. */
function refuseUnable(fields: JsonFields): void {
  if (fields.background === true) {
    if (fields.store === false) {
      throw invalidField("store", "must not be false with background: nothing could be retrieved");
    }
    if (fields.stream === true) {
      throw notSupported(
        "stream",
        "is not supported with background: retrieve the response, or wait for its webhook",
      );
    }
  }
  if (isGiven(fields.conversation)) {
    throw notSupported("conversation", "is not supported: send previous_response_id");
  }
  if (isGiven(fields.prompt)) {
    throw notSupported("prompt", "is not supported: send the text as instructions");
  }
}

function readReasoning(
  { reasoning }: JsonFields,
  reasons: boolean,
): { readonly request: JsonFields; readonly ignored: readonly string[] } {
  const effort = (reasoning as JsonFields | undefined)?.effort;
  if (typeof effort !== "string") return { request: {}, ignored: [] };
  return reasons
    ? { request: { reasoning_effort: effort }, ignored: [] }
    : { request: {}, ignored: ["reasoning.effort"] };
}

function readText({ text }: JsonFields): JsonFields {
  const { format, verbosity } = (text ?? {}) as JsonFields;
  const length = typeof verbosity === "string" ? { verbosity } : {};
  const { type = "text", ...rest } = (format ?? {}) as JsonFields;
  if (type === "text") return length;
  if (type === "json_object") return { ...length, response_format: { type } };
  if (type !== "json_schema") {
    throw notSupported("text.format.type", "must be text, json_object or json_schema");
  }
  const { name, schema, strict, description } = rest;
  const json_schema = Object.fromEntries(
    Object.entries({ name, schema, strict, description }).filter(([, value]) => isGiven(value)),
  );
  return { ...length, response_format: { type, json_schema } };
}

function readLogprobs({ include, top_logprobs: top }: JsonFields): JsonFields {
  const isAsked = Array.isArray(include) && include.includes("message.output_text.logprobs");
  if (!isAsked) return {};
  return { logprobs: true, ...(typeof top === "number" ? { top_logprobs: top } : {}) };
}
