import { type Json, record } from "../dialect/json.ts";

/** Constraints that structured output does not support: answers may violate them. */
const UNKNOWN = new Set([
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["minLength", "maxLength", "maxItems", "uniqueItems", "minProperties", "maxProperties"],
]);

/** Keywords whose value maps names to schemas; the names are the client's own. */
const NAMED = new Set(["properties", "$defs", "definitions"]);

/** Keywords whose value is data, whatever it looks like. */
const DATA = new Set(["enum", "const", "default", "examples", "required"]);

/** A schema for structured output: closed objects, and no unsupported keywords. */
export function closeSchema(schema: Json): Json {
  const closed: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (UNKNOWN.has(keyword)) continue;
    if (DATA.has(keyword)) closed[keyword] = value;
    else if (keyword === "minItems" && typeof value === "number" && value > 1) closed.minItems = 1;
    else if (NAMED.has(keyword)) closed[keyword] = closeEach(value);
    else closed[keyword] = close(value);
  }
  if (closed.type === "object" || "properties" in closed) closed.additionalProperties = false;
  return closed;
}

function closeEach(value: unknown): unknown {
  const named = record(value);
  if (named === null) return value;
  return Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, close(schema)]));
}

function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close);
  const schema = record(value);
  return schema === null ? value : closeSchema(schema);
}
