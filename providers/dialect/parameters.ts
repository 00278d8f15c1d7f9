import type { ChatRequest } from "../../src/upstream/adapter.ts";
import { count, type Json, list, record, records, text } from "./json.ts";
import { refuse } from "./write.ts";

/** A request's parameters, for providers that have other names for them. */

/** The client's limit of output tokens; reasoning tokens count towards it. */
export function outputLimit(request: ChatRequest): number | null {
  return count(request.max_completion_tokens) ?? count(request.max_tokens);
}

export function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

export function stopTexts(request: ChatRequest): string[] | undefined {
  const { stop } = request;
  const texts = (typeof stop === "string" ? [stop] : list(stop)).filter((word) =>
    typeof word === "string" && word !== ""
  );
  return texts.length > 0 ? texts as string[] : undefined;
}

export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

export function effortOf(request: ChatRequest): Effort | null {
  return text(request.reasoning_effort) as Effort | null;
}

export type Format = "text" | "json" | { readonly schema: Json };

export function formatOf(request: ChatRequest): Format {
  const format = record(request.response_format);
  if (format?.type === "json_object") return "json";
  const schema = record(record(format?.json_schema)?.schema);
  if (format?.type !== "json_schema") return "text";
  return schema === null ? "json" : { schema };
}

/** Rejects parameters whose answers have a format that the provider does not support. */
export function refuseShapes(request: ChatRequest, unable: readonly string[]): void {
  for (const name of unable) {
    const value = request[name];
    if (value === undefined || value === null || value === false) continue;
    refuse(name, `This model does not take \`${name}\`: leave it out.`);
  }
  if (list(request.modalities).some((kind) => kind !== "text")) {
    refuse("modalities", "This model answers with text only.");
  }
}

export interface Tool {
  readonly name: string;
  readonly description: string | undefined;
  readonly parameters: Json | undefined;
  readonly strict: boolean;
  /** `cache_control` of the tool. */
  readonly cache: Json | undefined;
}

export interface ToolUse {
  readonly tools: readonly Tool[];
  /** `required`: at least one call; with `only`, a call of that tool. */
  readonly choice: "auto" | "none" | "required";
  readonly only: string | null;
  readonly parallel: boolean;
}

/** The tools and how they may be used; null where there are none. */
export function toolUseOf(request: ChatRequest): ToolUse | null {
  const tools = records(request.tools).map(toolOf);
  if (tools.length === 0) return null;
  const choice = record(request.tool_choice);
  const parallel = request.parallel_tool_calls !== false;
  if (choice?.type === "function") {
    const only = text(record(choice.function)?.name);
    return { tools, choice: "required", only, parallel };
  }
  if (choice?.type === "allowed_tools") {
    const allowed = record(choice.allowed_tools);
    const names = new Set(records(allowed?.tools).map((tool) => record(tool.function)?.name));
    const offered = tools.filter(({ name }) => names.has(name));
    if (offered.length === 0) return null;
    return {
      tools: offered,
      choice: allowed?.mode === "required" ? "required" : "auto",
      only: null,
      parallel,
    };
  }
  const word = request.tool_choice;
  const known = word === "none" || word === "required" ? word : "auto";
  return { tools, choice: known, only: null, parallel };
}

function toolOf(tool: Json, at: number): Tool {
  const declared = record(tool.function);
  const name = text(declared?.name);
  if (tool.type !== "function" || name === null) {
    refuse(`tools.${at}.type`, "This model takes tools of type `function` only.");
  }
  return {
    name,
    description: text(declared!.description) ?? undefined,
    parameters: record(declared!.parameters) ?? undefined,
    strict: declared!.strict === true,
    cache: record(tool.cache_control) ?? undefined,
  };
}
