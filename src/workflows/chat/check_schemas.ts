import { ApiError } from "../../lib/api_error.ts";
import type { ChatRequest } from "../../upstream/adapter.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Rejects a JSON Schema that refers to another document: an upstream that compiles schemas may fetch it from
 * inside our network.
 */
export function checkSchemas({ tools, functions, response_format }: ChatRequest): void {
  const declared = (list: unknown): Fields[] => Array.isArray(list) ? list : [];
  for (const [at, tool] of declared(tools).entries()) {
    const called = tool.function as Fields | null | undefined;
    checkSchema(called?.parameters, () => `tools.${at}.function.parameters`);
  }
  for (const [at, called] of declared(functions).entries()) {
    checkSchema(called.parameters, () => `functions.${at}.parameters`);
  }
  const format = (response_format as Fields | null | undefined)?.json_schema;
  checkSchema(
    (format as Fields | null | undefined)?.schema,
    () => "response_format.json_schema.schema",
  );
}

function checkSchema(schema: unknown, place: () => string): void {
  // No recursion: clients choose the depth of a schema.
  const left: unknown[] = [schema];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== "object" || value === null) continue;
    for (const name in value) {
      const inner = (value as Fields)[name];
      if (typeof inner === "object") left.push(inner);
      else if (typeof inner === "string" && REFERENCES.has(name) && !inner.startsWith("#")) {
        const param = place();
        throw new ApiError(
          "invalid_value",
          `${param} may refer to its own parts only, such as {"$ref": "#/$defs/address"}.`,
          { param },
        );
      }
    }
  }
}

const REFERENCES = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);
