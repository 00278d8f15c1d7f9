import type { MessagesRequest } from "../../../../schemas/requests.ts";
import type { ChatRequest } from "../../../upstream/adapter.ts";
import {
  type JsonFields,
  notSupported,
  objectAt,
  textAt,
  type TranslatedChat,
  unknownNames,
} from "../translated.ts";
import { readReasoning } from "../read_reasoning.ts";
import { cacheMark } from "./read_blocks.ts";
import { readMessages, readSystem } from "./read_messages.ts";

const KNOWN = new Set([
  ...["model", "messages", "system", "max_tokens", "stream", "temperature", "top_p", "top_k"],
  ...["stop_sequences", "tools", "tool_choice", "thinking", "output_config", "output_format"],
  ...["metadata", "cache_control", "mcp_servers"],
]);
/** Longer ids are not passed on: OpenAI rejects them. */
const USER_MAX = 64;

/** How the Messages API calls the engine's fields. */
export const MESSAGES_NAMES = {
  max_completion_tokens: "max_tokens",
  stop: "stop_sequences",
  response_format: "output_config.format",
  reasoning_effort: "thinking",
};

/** A request of Anthropic's Messages API as the engine takes it. Throws an `ApiError` for what it cannot say. */
export function readMessagesRequest(
  body: MessagesRequest,
  { reasons }: { readonly reasons: boolean },
): TranslatedChat {
  const fields: JsonFields = body;
  if (Array.isArray(fields.mcp_servers) && fields.mcp_servers.length > 0) {
    throw notSupported("mcp_servers", "is not supported: connect to the servers in your client");
  }
  const read = [...readSystem(fields.system, "system"), ...readMessages(body.messages)];
  const reasoning = readReasoning(fields.thinking, {
    name: "output_config.effort",
    value: (fields.output_config as JsonFields | undefined)?.effort,
  }, reasons);
  const request = {
    model: body.model,
    messages: read.map(({ message }) => message),
    ...(body.max_tokens === undefined ? {} : { max_completion_tokens: body.max_tokens }),
    ...copied(fields, ["stream", "temperature", "top_p", "top_k", "cache_control"]),
    ...readStops(fields),
    ...readTools(fields),
    ...readFormat(fields),
    ...readUser(fields),
    ...reasoning.request,
  };
  return {
    request: request as ChatRequest,
    ignored: [...unknownNames(fields, KNOWN), ...reasoning.ignored],
    paths: read.map(({ path }) => path),
  };
}

/** Whether the client asks to see the model's reasoning. */
export function asksForThinking({ thinking }: MessagesRequest): boolean {
  const type = (thinking as JsonFields | undefined)?.type;
  return type === "enabled" || type === "adaptive";
}

function copied(fields: JsonFields, names: readonly string[]): JsonFields {
  return Object.fromEntries(
    names.filter((name) => fields[name] !== undefined && fields[name] !== null)
      .map((name) => [name, fields[name]]),
  );
}

function readStops({ stop_sequences: stops }: JsonFields): JsonFields {
  return Array.isArray(stops) && stops.length > 0 ? { stop: stops } : {};
}

function readUser({ metadata }: JsonFields): JsonFields {
  const user = (metadata as JsonFields | undefined)?.user_id;
  return typeof user === "string" && user.length <= USER_MAX ? { user } : {};
}

function readTools({ tools, tool_choice }: JsonFields): JsonFields {
  if (!Array.isArray(tools) || tools.length === 0) return {};
  const choice = tool_choice === undefined || tool_choice === null
    ? {}
    : readChoice(objectAt(tool_choice, "tool_choice"));
  return { tools: tools.map((tool, at) => readTool(objectAt(tool, `tools.${at}`), at)), ...choice };
}

function readTool(tool: JsonFields, at: number): JsonFields {
  const { type = "custom", description, input_schema, strict } = tool;
  if (type !== "custom" && type !== null) {
    throw notSupported(
      `tools.${at}.type`,
      "must be custom: this service does not run tools of the provider",
    );
  }
  return {
    type: "function",
    function: {
      name: textAt(tool, "name", `tools.${at}`),
      ...(typeof description === "string" ? { description } : {}),
      parameters: objectAt(input_schema ?? {}, `tools.${at}.input_schema`),
      ...(strict === true ? { strict } : {}),
    },
    ...cacheMark(tool),
  };
}

const CHOICES: Readonly<Record<string, string>> = { auto: "auto", any: "required", none: "none" };

function readChoice(choice: JsonFields): JsonFields {
  const alone = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {};
  if (choice.type === "tool") {
    const name = textAt(choice, "name", "tool_choice");
    return { tool_choice: { type: "function", function: { name } }, ...alone };
  }
  const word = CHOICES[String(choice.type)];
  if (word === undefined) throw notSupported("tool_choice.type", "must be auto, any, tool or none");
  return { tool_choice: word, ...alone };
}

/** `output_format` is the name that the field had in beta. */
function readFormat({ output_config, output_format }: JsonFields): JsonFields {
  const format = (output_config as JsonFields | undefined)?.format ?? output_format;
  if (format === undefined || format === null) return {};
  const { type, schema } = objectAt(format, "output_config.format");
  if (type !== "json_schema") {
    throw notSupported("output_config.format.type", "must be json_schema");
  }
  const json_schema = { name: "output", schema: objectAt(schema, "output_config.format.schema") };
  return { response_format: { type, json_schema } };
}
