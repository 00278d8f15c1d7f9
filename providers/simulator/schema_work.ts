import { isJsonObject, type JsonObject } from "./fields.ts";
import { limitOf } from "./schema_values.ts";

/** Enough for thousands of values of a common schema, and finished in a fraction of a second. */
export const WORK_MAX = 100_000;
const CHARACTERS_PER_UNIT = 20;
const LETTERS_PER_UNIT = 4;

/** An estimate of the work that reading a schema takes, without its nested schemas. */
export function workOf(schema: unknown): number {
  if (!isJsonObject(schema)) return 1;
  // Generated characters cost more than those that are read.
  let work = 1 + Math.max(0, limitOf(schema.minLength) ?? 0) / LETTERS_PER_UNIT;
  for (const key of Object.keys(schema)) work += workOfKeyword(key, schema);
  return work;
}

function workOfKeyword(key: string, schema: JsonObject): number {
  const value = schema[key];
  // Compared and written as a whole.
  if (key === "enum" || key === "const") return JSON.stringify(value).length / CHARACTERS_PER_UNIT;
  if (typeof value === "string") return value.length / CHARACTERS_PER_UNIT;
  if (Array.isArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : 1;
}
