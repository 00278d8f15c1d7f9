import { isJsonObject, type JsonObject } from "./fields.ts";
import { limitOf, listOf } from "./schema_values.ts";

const LOWER_LIMITS = new Set(
  ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"],
);
const UPPER_LIMITS = new Set(
  ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"],
);

/** One schema with the constraints of all; of keywords that cannot be merged, the last one counts. */
export function mergeSchemas(schemas: readonly unknown[]): unknown {
  if (schemas.includes(false)) return false;
  return schemas.filter(isJsonObject).reduce<JsonObject>(merge, {});
}

function merge(one: JsonObject, other: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...one };
  for (const [key, value] of Object.entries(other)) {
    merged[key] = Object.hasOwn(merged, key) ? join(key, merged[key], value) : value;
  }
  return merged;
}

function join(key: string, one: unknown, other: unknown): unknown {
  if (LOWER_LIMITS.has(key)) return Math.max(limitOf(one)!, limitOf(other)!);
  if (UPPER_LIMITS.has(key)) return Math.min(limitOf(one)!, limitOf(other)!);
  if (key === "required") return [...new Set([...listOf(one), ...listOf(other)])];
  if (key === "allOf") return [...listOf(one), ...listOf(other)];
  if (key === "enum") {
    const texts = new Set(listOf(other).map((value) => JSON.stringify(value)));
    return listOf(one).filter((value) => texts.has(JSON.stringify(value)));
  }
  if (key === "type") return sharedTypes(one, other);
  if (key === "properties" && isJsonObject(one) && isJsonObject(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return Object.fromEntries([...names].map((name) => [name, both(one, other, name)]));
  }
  if (key === "additionalProperties" && (one === false || other === false)) return false;
  return other;
}

function both(one: JsonObject, other: JsonObject, name: string): unknown {
  if (!Object.hasOwn(one, name)) return other[name];
  return Object.hasOwn(other, name) ? { allOf: [one[name], other[name]] } : one[name];
}

function sharedTypes(one: unknown, other: unknown): unknown {
  const [these, those] = [one, other].map((types) => Array.isArray(types) ? types : [types]);
  const shared = these!.filter((type) =>
    those!.includes(type) || type === "integer" && those!.includes("number")
  );
  return these!.includes("number") && those!.includes("integer") ? [...shared, "integer"] : shared;
}
