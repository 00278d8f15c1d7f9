import {
  isJsonObject,
  type JsonObject,
  missing,
  readBoolean,
  readJsonObject,
  readList,
  readNumber,
  readString,
  wrongType,
  wrongValue,
} from "./fields.ts";
import { type Message, readMessages } from "./messages.ts";
import { WireError } from "./wire_error.ts";

/** The chat models, by their upstream names. */
const MODELS: Readonly<Record<string, { contextTokens: number; reasons: boolean }>> = {
  "chat": { contextTokens: 128_000, reasons: false },
  "chat-reasoning": { contextTokens: 200_000, reasons: true },
};

/** A valid chat request. */
export interface SimulatedChat {
  readonly model: string;
  readonly contextTokens: number;
  readonly reasons: boolean;
  readonly effort: string | null;
  readonly messages: readonly Message[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly n: number;
  readonly seed: number | null;
  readonly tokensMax: number;
  readonly stops: readonly string[];
  readonly logprobs: boolean;
  readonly topLogprobs: number;
  readonly tools: readonly SimulatedTool[];
  readonly toolChoice: ToolChoice;
  readonly parallelCalls: boolean;
  /** Whether the answer must be JSON: any, or valid for a schema. */
  readonly format: { readonly schema: unknown; readonly name: string } | "json" | null;
}

export interface SimulatedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
}

/** Names of the tools that may be called, or all of them, and whether one must be. */
export interface ToolChoice {
  readonly mode: "none" | "auto" | "required";
  readonly names: readonly string[] | null;
}

const PARAMETERS = new Set(
  ("messages model audio frequency_penalty function_call functions logit_bias logprobs " +
    "max_completion_tokens max_tokens metadata modalities moderation n parallel_tool_calls prediction " +
    "presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort " +
    "response_format safety_identifier seed service_tier stop store stream stream_options temperature " +
    "tool_choice tools top_logprobs top_p user verbosity web_search_options").split(" "),
);

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const TOKENS_MAX = 1_000_000_000;

export function readRequest(body: unknown): SimulatedChat {
  if (!isJsonObject(body)) throw wrongType("body", "an object", body);
  const model = readString(body, "model");
  if (model === null) throw new WireError(400, "you must provide a model parameter");
  const known = Object.hasOwn(MODELS, model) ? MODELS[model]! : null;
  if (known === null) {
    throw new WireError(
      404,
      `The model \`${model}\` does not exist or you do not have access to it.`,
      null,
      "model_not_found",
    );
  }
  for (const name of Object.keys(body)) {
    if (!PARAMETERS.has(name)) {
      throw new WireError(400, `Unknown parameter: '${name}'.`, name, "unknown_parameter");
    }
  }
  readNumber(body, "temperature", { kind: "decimal", min: 0, max: 2 });
  readNumber(body, "top_p", { kind: "decimal", min: 0, max: 1 });
  readNumber(body, "frequency_penalty", { kind: "decimal", min: -2, max: 2 });
  readNumber(body, "presence_penalty", { kind: "decimal", min: -2, max: 2 });
  readJsonObject(body, "logit_bias");
  readString(body, "user");
  const effort = readString(body, "reasoning_effort");
  if (effort !== null && !EFFORTS.includes(effort)) {
    throw wrongValue("reasoning_effort", effort, EFFORTS);
  }
  const tools = readTools(body);
  return {
    model,
    ...known,
    effort,
    messages: readMessages(body),
    ...readStreaming(body),
    n: readNumber(body, "n", { kind: "integer", min: 1, max: 128 }) ?? 1,
    seed: readNumber(body, "seed", { kind: "integer", min: -(2 ** 63), max: 2 ** 63 }),
    tokensMax: readTokensMax(body),
    stops: readStops(body),
    ...readLogprobs(body),
    tools,
    toolChoice: readToolChoice(body, tools),
    parallelCalls: readBoolean(body, "parallel_tool_calls") ?? true,
    format: readFormat(body),
  };
}

function readStreaming(body: JsonObject): Pick<SimulatedChat, "stream" | "includeUsage"> {
  const stream = readBoolean(body, "stream") ?? false;
  const options = readJsonObject(body, "stream_options");
  if (options !== null && !stream) {
    throw new WireError(
      400,
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      "stream_options",
    );
  }
  const usage = options === null
    ? null
    : readBoolean(options, "include_usage", "stream_options.include_usage");
  return { stream, includeUsage: usage ?? false };
}

function readTokensMax(body: JsonObject): number {
  const range = { kind: "integer", min: 1, max: TOKENS_MAX } as const;
  const [older, newer] = [
    readNumber(body, "max_tokens", range),
    readNumber(body, "max_completion_tokens", range),
  ];
  if (older !== null && newer !== null) {
    throw new WireError(
      400,
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
      "max_tokens",
      "invalid_parameter_combination",
    );
  }
  return newer ?? older ?? TOKENS_MAX;
}

function readStops(body: JsonObject): string[] {
  const stop = body.stop ?? [];
  const stops = typeof stop === "string" ? [stop] : stop;
  if (!Array.isArray(stops)) throw wrongType("stop", "a string or an array of strings", stop);
  if (stops.length > 4) {
    throw new WireError(
      400,
      `Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length ${stops.length} instead.`,
      "stop",
      "array_above_max_length",
    );
  }
  for (const [at, one] of stops.entries()) {
    if (typeof one !== "string") throw wrongType(`stop[${at}]`, "a string", one);
  }
  return stops.filter((one) => one !== "");
}

function readLogprobs(body: JsonObject): Pick<SimulatedChat, "logprobs" | "topLogprobs"> {
  const logprobs = readBoolean(body, "logprobs") ?? false;
  const top = readNumber(body, "top_logprobs", { kind: "integer", min: 0, max: 20 });
  if (top !== null && !logprobs) {
    throw new WireError(
      400,
      "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.",
      "top_logprobs",
    );
  }
  return { logprobs, topLogprobs: top ?? 0 };
}

function readTools(body: JsonObject): SimulatedTool[] {
  const tools: SimulatedTool[] = [];
  for (const [at, item] of (readList(body, "tools") ?? []).entries()) {
    const path = `tools[${at}]`;
    if (!isJsonObject(item)) throw wrongType(path, "an object", item);
    const type = readString(item, "type", `${path}.type`);
    if (type === null) throw missing(`${path}.type`);
    if (type === "custom") continue; // The simulator never calls custom tools.
    if (type !== "function") throw wrongValue(`${path}.type`, type, ["function", "custom"]);
    const described = readJsonObject(item, "function", `${path}.function`);
    if (described === null) throw missing(`${path}.function`);
    const name = readString(described, "name", `${path}.function.name`);
    if (name === null) throw missing(`${path}.function.name`);
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
      throw new WireError(
        400,
        `Invalid '${path}.function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
        `${path}.function.name`,
        "invalid_value",
      );
    }
    tools.push({
      name,
      description: readString(described, "description", `${path}.function.description`) ?? "",
      parameters: readJsonObject(described, "parameters", `${path}.function.parameters`) ??
        { type: "object", properties: {} },
    });
  }
  return tools;
}

function readToolChoice(body: JsonObject, tools: readonly SimulatedTool[]): ToolChoice {
  const choice = body.tool_choice ?? null;
  if (choice === null) return { mode: "auto", names: null };
  if (!Array.isArray(body.tools) || body.tools.length === 0) {
    throw new WireError(
      400,
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      "tool_choice",
    );
  }
  if (choice === "none" || choice === "auto" || choice === "required") {
    return { mode: choice, names: null };
  }
  if (!isJsonObject(choice)) {
    throw wrongValue("tool_choice", String(choice), ["none", "auto", "required"]);
  }
  if (choice.type === "allowed_tools" && isJsonObject(choice.allowed_tools)) {
    const { mode, tools: allowed } = choice.allowed_tools;
    const names = Array.isArray(allowed) ? allowed.map(nameOf) : [];
    return { mode: mode === "required" ? "required" : "auto", names };
  }
  const name = nameOf(choice);
  if (choice.type !== "custom" && !tools.some((tool) => tool.name === name)) {
    throw new WireError(
      400,
      `Invalid value for 'tool_choice': no function named '${name}' was specified in the 'tools' parameter.`,
      "tool_choice",
    );
  }
  return { mode: "required", names: [name] };
}

function nameOf(choice: unknown): string {
  const called = isJsonObject(choice) ? choice.function : null;
  return isJsonObject(called) && typeof called.name === "string" ? called.name : "";
}

function readFormat(body: JsonObject): SimulatedChat["format"] {
  const format = readJsonObject(body, "response_format");
  if (format === null || format.type === "text") return null;
  if (format.type === "json_object") return "json";
  if (format.type !== "json_schema") {
    const types = ["json_object", "json_schema", "text"];
    throw wrongValue("response_format.type", String(format.type), types);
  }
  const path = "response_format.json_schema";
  const described = readJsonObject(format, "json_schema", path);
  if (described === null) throw missing(path);
  const name = readString(described, "name", `${path}.name`);
  if (name === null) throw missing(`${path}.name`);
  const schema = readJsonObject(described, "schema", `${path}.schema`);
  if (schema === null) throw missing(`${path}.schema`);
  return { schema, name };
}
