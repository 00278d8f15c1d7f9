import { type JsonFields, notSupported, objectAt, textAt } from "../translated.ts";
import { customToFunction } from "./custom_tools.ts";

interface ReadTools {
  readonly request: JsonFields;
  readonly custom: ReadonlySet<string>;
  readonly ignored: readonly string[];
}

/** Tools that OpenAI runs itself and that agents offer to every model: left out, since nothing asks for a call. */
const HOSTED = /^(?:web_search|image_generation)/;

export function readTools(fields: JsonFields): ReadTools {
  const { tools, tool_choice, parallel_tool_calls: parallel } = fields;
  const custom = new Set<string>();
  const ignored: string[] = [];
  const declared = (Array.isArray(tools) ? tools : []).flatMap((value, at) => {
    const tool = objectAt(value, `tools.${at}`);
    if (tool.type === "custom") {
      custom.add(textAt(tool, "name", `tools.${at}`));
      return [customToFunction(tool)];
    }
    if (tool.type === "function") return [readFunction(tool, `tools.${at}`)];
    if (HOSTED.test(String(tool.type))) {
      ignored.push(`tools.${at}`);
      return [];
    }
    throw notSupported(
      `tools.${at}.type`,
      "must be function or custom: this service runs no tools itself",
    );
  });
  if (declared.length === 0) return { request: {}, custom, ignored };
  const choice = tool_choice === undefined || tool_choice === null
    ? {}
    : { tool_choice: readChoice(tool_choice) };
  const alone = parallel === false ? { parallel_tool_calls: false } : {};
  return { request: { tools: declared, ...choice, ...alone }, custom, ignored };
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
