import type { JsonFields } from "../translated.ts";

/**
 * Custom tools take free text instead of JSON. Few providers know them: here a custom tool is a function with one
 * argument, the text, on every provider alike. A grammar for the text becomes part of the description.
 */

export function customToFunction(tool: JsonFields): JsonFields {
  const { name, description } = tool;
  return {
    type: "function",
    function: {
      name,
      description: [description, grammarText(tool.format)].filter(Boolean).join("\n\n"),
      parameters: {
        type: "object",
        properties: { input: { type: "string", description: "The whole input of the tool." } },
        required: ["input"],
        additionalProperties: false,
      },
    },
  };
}

function grammarText(format: unknown): string {
  const { type, syntax, definition } = (format ?? {}) as JsonFields;
  if (type !== "grammar" || typeof definition !== "string") return "";
  return `The input must match this grammar (${String(syntax)}):\n${definition}`;
}

/** A custom call as arguments of the function. */
export function wrapInput(input: string): string {
  return JSON.stringify({ input });
}

/** The text of a call; arguments that a model wrote otherwise are taken as they are. */
export function unwrapInput(written: string): string {
  try {
    const { input } = JSON.parse(written) as JsonFields;
    return typeof input === "string" ? input : written;
  } catch {
    return written; // not JSON: a SyntaxError
  }
}
