import { type Fields, isFields } from "./fields.ts";
import { limitOf } from "./schema_values.ts";

/** Enough for thousands of values of a usual schema, and done in a fraction of a second. */
export const WORK_MAX = 100_000;
const CHARACTERS_PER_UNIT = 20;
const LETTERS_PER_UNIT = 4;

/** About how much there is to look at in a schema, without what is nested in it. */
export function workOf(schema: unknown): number {
  if (!isFields(schema)) return 1;
  // Letters that are made cost more than those that are looked at.
  let work = 1 + Math.max(0, limitOf(schema.minLength) ?? 0) / LETTERS_PER_UNIT;
  for (const key of Object.keys(schema)) work += workOfKeyword(key, schema);
  return work;
}

function workOfKeyword(key: string, schema: Fields): number {
  const value = schema[key];
  // Compared and written as a whole, whatever they hold.
  if (key === "enum" || key === "const") return JSON.stringify(value).length / CHARACTERS_PER_UNIT;
  if (typeof value === "string") return value.length / CHARACTERS_PER_UNIT;
  if (Array.isArray(value)) return value.length;
  return isFields(value) ? Object.keys(value).length : 1;
}
