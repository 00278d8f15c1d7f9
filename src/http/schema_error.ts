import type { ErrorObject } from "ajv/dist/2020.js";
import { ApiError } from "../lib/api_error.ts";
import { didYouMean, nearest } from "../lib/suggest.ts";

/** The part of a field's schema that error messages use. */
interface FieldSchema {
  type?: string | readonly string[];
  format?: string;
  /** Description of valid values: an annotation of ours. */
  expected?: string;
  examples?: readonly unknown[];
  items?: FieldSchema;
  minimum?: number;
  maximum?: number;
  properties?: Readonly<Record<string, unknown>>;
}

/** A name may be as long as a body: only this much of it is repeated. */
const NAME_CHARACTERS_MAX = 100;
/** A body may have any number of keys: only this many are compared for misspellings. */
const KEYS_READ_MAX = 50;

/** Converts a schema violation into an error that says how to fix it. */
export function toSchemaError(error: ErrorObject): ApiError {
  const at = error.instancePath.slice(1).replaceAll("/", ".");
  const inner = (key: unknown) => at === "" ? String(key) : `${at}.${key}`;
  const params = error.params as Record<string, unknown>;
  const known = Object.keys((error.parentSchema as FieldSchema).properties ?? {});
  if (error.keyword === "required") {
    const missing = String(params.missingProperty);
    const param = inner(missing);
    const misspelt = Object.keys(error.data as object).slice(0, KEYS_READ_MAX).find((key) =>
      !known.includes(key) && nearest(key, known) === missing
    );
    const hint = misspelt === undefined ? "" : ` There is "${misspelt}": was ${missing} meant?`;
    return new ApiError("missing_field", `The field ${param} is missing.${hint}`, { param });
  }
  if (error.keyword === "additionalProperties") {
    const wrong = String(params.additionalProperty).slice(0, NAME_CHARACTERS_MAX);
    const param = inner(wrong);
    const hint = didYouMean(wrong, known) ?? "Leave it out.";
    return new ApiError("unknown_field", `The field ${param} is unknown. ${hint}`, {
      param,
    });
  }
  if (at === "") return new ApiError("invalid_value", "The body must be a JSON object, in braces.");
  const hint = hintFor(error);
  const message = `${at} ${describeViolation(error)}.${hint === undefined ? "" : ` ${hint}`}`;
  return new ApiError("invalid_value", message, { param: at });
}

function describeViolation({ keyword, params, parentSchema, data }: ErrorObject): string {
  const { limit } = params;
  switch (keyword) {
    case "enum":
      return `must be one of ${params.allowedValues.join(", ")}`;
    case "type":
    case "format":
    case "pattern":
      return `must be ${describeExpected(parentSchema as FieldSchema)}`;
    case "minItems":
    case "minLength":
      if (limit === 1) return "must not be empty";
      return `needs at least ${limit} ${Array.isArray(data) ? "entries" : "characters"}`;
    case "maxItems":
      return `may not have more than ${limit} entries`;
    case "maxLength":
      return `may not be longer than ${limit} characters`;
    case "minimum":
    case "maximum":
      return `must be ${limit} or ${keyword === "minimum" ? "more" : "less"}`;
    case "uniqueItems":
      return `holds the same entry twice, at ${params.j} and ${params.i}`;
    default:
      return "is not valid";
  }
}

/** Describes valid values of a field, with an example where the schema has one. */
function describeExpected(schema: FieldSchema): string {
  const { expected, format, type = [], examples } = schema;
  const words = expected ?? FORMATS[format ?? ""] ??
    [type].flat().filter((one) => one !== "null").map((one) => nameOf(one, schema)).join(" or ");
  return examples === undefined ? words : `${words}, such as ${JSON.stringify(examples[0])}`;
}

const FORMATS: Readonly<Record<string, string>> = {
  "date-time": 'a date and time with its offset, such as "2027-01-31T00:00:00Z"',
  email: 'an e-mail address, such as "ada@example.com"',
};

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
};

function nameOf(type: string, { items, minimum, maximum }: FieldSchema): string {
  const name = TYPES[type] ?? type;
  if (type === "array" && typeof items?.type === "string") return `${name} of ${items.type}s`;
  if (minimum === undefined) return name;
  const range = maximum === undefined ? `, ${minimum} or more` : ` from ${minimum} to ${maximum}`;
  return name + range;
}

/** How to fix common mistakes. */
function hintFor({ keyword, params, parentSchema, data }: ErrorObject): string | undefined {
  const schema = parentSchema as FieldSchema;
  switch (keyword) {
    case "enum":
      return typeof data === "string" ? didYouMean(data, params.allowedValues) : undefined;
    case "maxLength":
      return schema.expected === undefined ? undefined : `Send ${schema.expected}.`;
    case "type":
      // A number is not a date, with quotes or without.
      return schema.format === undefined ? fixFor([schema.type ?? []].flat(), data) : undefined;
  }
}

function fixFor(types: readonly string[], data: unknown): string | undefined {
  if (types.includes("string")) return typeof data === "number" ? "Put it in quotes." : undefined;
  const isPlain = data !== null && typeof data !== "object";
  if (types.includes("array")) return isPlain ? "Put it in brackets." : undefined;
  const pattern = types.includes("boolean") ? /^(true|false)$/ : /^-?\d+(\.\d+)?$/;
  return typeof data === "string" && pattern.test(data) ? "Leave out the quotes." : undefined;
}
