import { type JsonFields, notSupported, objectAt, textAt } from "../translated.ts";
import { customToFunction } from "./custom_tools.ts";

/** A tool as the client declared it, for calls of it. */
export interface DeclaredTool {
  readonly name: string;
  /** The group of tools that it is in. */
  readonly namespace?: string;
  /** Takes text instead of arguments. */
  readonly isCustom: boolean;
}

/** Tools that calls must be rendered for in another way than a function's, by the name that the model knows. */
export type DeclaredTools = ReadonlyMap<string, DeclaredTool>;

interface ReadTools {
  readonly request: JsonFields;
  readonly declared: DeclaredTools;
  readonly ignored: readonly string[];
}

/** Tools that OpenAI runs itself and that agents offer to every model: left out, since nothing asks for a call. */
const HOSTED = /^(?:web_search|image_generation)/;

export function readTools(fields: JsonFields): ReadTools {
  const reader = new ToolReader();
  const { tools, tool_choice, parallel_tool_calls: parallel } = fields;
  for (const [at, tool] of (Array.isArray(tools) ? tools : []).entries()) {
    reader.add(objectAt(tool, `tools.${at}`), `tools.${at}`);
  }
  const { functions, declared, ignored } = reader;
  if (functions.length === 0) return { request: {}, declared, ignored };
  const choice = tool_choice === undefined || tool_choice === null
    ? {}
    : { tool_choice: readChoice(tool_choice) };
  const alone = parallel === false ? { parallel_tool_calls: false } : {};
  return { request: { tools: functions, ...choice, ...alone }, declared, ignored };
}

/** What the model calls a tool of a namespace: names of functions have no dots. */
export function nameInside(namespace: unknown, name: string): string {
  return typeof namespace === "string" ? `${namespace}__${name}` : name;
}

class ToolReader {
  readonly functions: JsonFields[] = [];
  readonly declared = new Map<string, DeclaredTool>();
  readonly ignored: string[] = [];

  add(tool: JsonFields, param: string, namespace?: string): void {
    if (tool.type === "namespace" && namespace === undefined) return this.#addAll(tool, param);
    if (HOSTED.test(String(tool.type))) {
      this.ignored.push(param);
      return;
    }
    const isCustom = tool.type === "custom";
    if (!isCustom && tool.type !== "function") {
      throw notSupported(
        `${param}.type`,
        "must be function, custom or namespace: this service runs no tools itself",
      );
    }
    const name = textAt(tool, "name", param);
    const known = nameInside(namespace, name);
    if (isCustom || namespace !== undefined) {
      this.declared.set(known, {
        name,
        isCustom,
        ...(namespace === undefined ? {} : { namespace }),
      });
    }
    const named = { ...tool, name: known };
    this.functions.push(isCustom ? customToFunction(named) : readFunction(named, param));
  }

  #addAll(group: JsonFields, param: string): void {
    const name = textAt(group, "name", param);
    const tools = Array.isArray(group.tools) ? group.tools : [];
    for (const [at, tool] of tools.entries()) {
      this.add(objectAt(tool, `${param}.tools.${at}`), `${param}.tools.${at}`, name);
    }
  }
}

function readFunction(tool: JsonFields, param: string): JsonFields {
  const { description, parameters, strict } = tool;
  return {
    type: "function",
    function: {
      name: textAt(tool, "name", param),
      ...(typeof description === "string" ? { description } : {}),
      ...(parameters === undefined || parameters === null ? {} : { parameters }),
      ...(typeof strict === "boolean" ? { strict } : {}),
    },
  };
}

function readChoice(choice: unknown): unknown {
  if (typeof choice === "string") return choice;
  const fields = objectAt(choice, "tool_choice");
  if (fields.type === "function" || fields.type === "custom") {
    return { type: "function", function: { name: textAt(fields, "name", "tool_choice") } };
  }
  if (fields.type !== "allowed_tools" || !Array.isArray(fields.tools)) {
    throw notSupported("tool_choice.type", "must be function, custom or allowed_tools");
  }
  const allowed = fields.tools.map((tool, at) => {
    const param = `tool_choice.tools.${at}`;
    return { type: "function", function: { name: textAt(objectAt(tool, param), "name", param) } };
  });
  return { type: "allowed_tools", allowed_tools: { mode: fields.mode ?? "auto", tools: allowed } };
}
