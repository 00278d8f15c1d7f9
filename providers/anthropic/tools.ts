import type { Turn } from "../dialect/conversation.ts";
import { closeSchema } from "./schema.ts";
import { compact, type Json } from "../dialect/json.ts";
import type { Tool, ToolUse } from "../dialect/parameters.ts";

/** `tools` and `tool_choice` of a request. */
export function toolsOf(use: ToolUse | null, turns: readonly Turn[]): Json {
  if (use !== null) return compact({ tools: use.tools.map(toolOf), tool_choice: choiceOf(use) });
  const past = new Set<string>();
  for (const { parts } of turns) {
    for (const part of parts) if (part.kind === "call") past.add(part.name);
  }
  if (past.size === 0) return {};
  // The tools of earlier calls must be listed, even where no tool may be called now.
  const tools = [...past].map((name) => ({ name, input_schema: { type: "object" } }));
  return { tools, tool_choice: { type: "none" } };
}

function toolOf({ name, description, parameters, strict, cache }: Tool): Json {
  const schema = parameters ?? { type: "object", properties: {} };
  return compact({
    name,
    description,
    input_schema: strict ? closeSchema(schema) : schema,
    strict: strict ? true : undefined,
    cache_control: cache,
  });
}

function choiceOf(use: ToolUse): Json | undefined {
  const alone = use.parallel ? undefined : true;
  if (use.choice === "none") return { type: "none" };
  if (use.only !== null) {
    return compact({ type: "tool", name: use.only, disable_parallel_tool_use: alone });
  }
  if (use.choice === "auto" && use.parallel) return undefined;
  const type = use.choice === "required" ? "any" : "auto";
  return compact({ type, disable_parallel_tool_use: alone });
}
