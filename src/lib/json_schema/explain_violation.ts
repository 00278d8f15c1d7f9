import type { ErrorObject } from "ajv";
import { didYouMean, nearest } from "../suggest.ts";

/** A violation of a JSON Schema in words: one set of rules for files that people write and for request bodies. */
export interface Violation {
  /** Of the value, or of the block in which a key is missing. */
  readonly path: readonly (string | number)[];
  /** A key that is missing or unknown, a name that is not allowed, or a value that is wrong. */
  readonly kind: "missing" | "unknown" | "name" | "value";
  /** The key or name, unless a value is wrong. */
  readonly key: string;
  /** Follows the name of the value: `must be a whole number`. */
  readonly message: string;
  readonly suggestion?: string | undefined;
}

/** What the readers of a message call the types of values, one and many. */
export type TypeNames = Readonly<Record<string, readonly [one: string, many: string]>>;

export const JSON_TYPES = {
  string: ["a string", "strings"],
  integer: ["a whole number", "whole numbers"],
  number: ["a number", "numbers"],
  boolean: ["true or false", "booleans"],
  object: ["an object", "objects"],
  array: ["an array", "arrays"],
} as const satisfies TypeNames;

export const YAML_TYPES = {
  ...JSON_TYPES,
  string: ["a text", "texts"],
  object: ["a block of keys", "blocks of keys"],
  array: ["a list", "lists"],
} as const satisfies TypeNames;

export interface ExplainOptions {
  types: TypeNames;
  /** The value as written in a file, repeated in messages. Left out: the value is not repeated. */
  written?: ((path: Violation["path"]) => string | undefined) | undefined;
}

/** The parts of a schema that messages use. */
interface ValueSchema {
  type?: string | readonly string[];
  format?: string;
  /** Valid values in words: an annotation of ours. */
  expected?: string;
  /** An annotation of ours: the value must not appear in a message. */
  secret?: true;
  examples?: readonly unknown[];
  items?: ValueSchema;
  minimum?: number;
  maximum?: number;
  properties?: Readonly<Record<string, unknown>>;
}

/** A name may be as long as a body: only this much of it is repeated. */
const NAME_CHARACTERS_MAX = 100;
/** A body may have any number of keys: only this many are compared for misspellings. */
const KEYS_READ_MAX = 50;

/** Explains an error of Ajv, which must run with `verbose`. */
export function explainViolation(
  error: ErrorObject,
  root: unknown,
  options: ExplainOptions,
): Violation {
  const { keyword, params, propertyName } = error;
  const path = fromPointer(error.instancePath, root);
  const schema = error.parentSchema as ValueSchema;
  if (keyword === "required") return explainMissing(error, path);
  if (keyword === "additionalProperties") {
    const key = String(params.additionalProperty).slice(0, NAME_CHARACTERS_MAX);
    const suggestion = didYouMean(key, Object.keys(schema.properties ?? {}));
    return { path, kind: "unknown", key, message: "is unknown", suggestion };
  }
  if (propertyName !== undefined) {
    return { path, kind: "name", key: propertyName, message: mustBe(schema, options.types) };
  }
  if (keyword === "uniqueItems") {
    const second = Math.max(params.i, params.j);
    return { path: [...path, second], kind: "value", key: "", message: "is listed twice" };
  }
  const written = schema.secret === true ? undefined : options.written?.(path);
  return {
    path,
    kind: "value",
    key: "",
    message: describeViolation(error, written, options),
    suggestion: suggestFix(error, written),
  };
}

function explainMissing(
  { params, parentSchema, data }: ErrorObject,
  path: Violation["path"],
): Violation {
  const key = String(params.missingProperty);
  const known = Object.keys((parentSchema as ValueSchema).properties ?? {});
  const misspelt = Object.keys(data as object).slice(0, KEYS_READ_MAX).find((name) =>
    !known.includes(name) && nearest(name, known) === key
  );
  const suggestion = misspelt === undefined
    ? undefined
    : `There is "${misspelt}": was ${key} meant?`;
  return { path, kind: "missing", key, message: "is missing", suggestion };
}

function describeViolation(
  { keyword, params, parentSchema, data, message }: ErrorObject,
  written: string | undefined,
  { types, written: repeats }: ExplainOptions,
): string {
  const { limit } = params;
  const schema = parentSchema as ValueSchema;
  const got = written === undefined ? "" : `; got ${written}`;
  const what = Array.isArray(data) ? "entries" : typeof data === "object" ? "keys" : "characters";
  switch (keyword) {
    case "enum":
      return `must be one of ${params.allowedValues.join(", ")}${
        repeats === undefined ? "" : `; got ${written ?? nameOf(data, undefined, types)}`
      }`;
    case "const":
      return `must be ${JSON.stringify(params.allowedValue)}${got}`;
    case "type":
      return mustBe(schema, types) +
        (repeats === undefined ? "" : `; got ${nameOf(data, written, types)}`);
    case "format":
    case "pattern":
      return mustBe(schema, types) + got;
    case "minItems":
    case "minLength":
    case "minProperties":
      return limit === 1 ? "must not be empty" : `needs at least ${limit} ${what}`;
    case "maxItems":
    case "maxProperties":
      return `may not have more than ${limit} ${what}`;
    case "maxLength":
      return `may not be longer than ${limit} characters`;
    case "minimum":
    case "maximum":
      return `must be ${limit} or ${keyword === "minimum" ? "more" : "less"}${got}`;
    default:
      return schema.expected === undefined ? message ?? "is not valid" : mustBe(schema, types);
  }
}

/** Describes valid values, with an example where the schema has one. */
function mustBe(schema: ValueSchema, types: TypeNames): string {
  const { expected, format, type = [], examples } = schema;
  const words = expected ?? FORMATS[format ?? ""] ??
    [type].flat().filter((one) => one !== "null").map((one) => typeName(one, schema, types))
      .join(" or ");
  return `must be ${words}${
    examples === undefined ? "" : `, such as ${JSON.stringify(examples[0])}`
  }`;
}

const FORMATS: Readonly<Record<string, string>> = {
  "date-time": 'a date and time with its offset, such as "2027-01-31T00:00:00Z"',
  email: 'an e-mail address, such as "ada@example.com"',
  uri: "an absolute URL",
};

function typeName(type: string, { items, minimum, maximum }: ValueSchema, types: TypeNames) {
  const [name] = types[type] ?? [type];
  const itemNames = typeof items?.type === "string" ? types[items.type] : undefined;
  if (type === "array" && itemNames !== undefined) return `${name} of ${itemNames[1]}`;
  if (minimum === undefined || type === "object") return name;
  const range = maximum === undefined ? `, ${minimum} or more` : ` from ${minimum} to ${maximum}`;
  return name + range;
}

/** What stands in the file in place of a value of another type. */
function nameOf(value: unknown, written: string | undefined, types: TypeNames): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return types.array![0];
  if (typeof value === "object") return types.object![0];
  if (typeof value !== "string") return written ?? `a ${typeof value}`;
  return written === undefined ? types.string![0] : `the text ${written}`;
}

/** How to fix common mistakes. */
function suggestFix(
  { keyword, params, parentSchema, data }: ErrorObject,
  written: string | undefined,
): string | undefined {
  const schema = parentSchema as ValueSchema;
  switch (keyword) {
    case "enum":
      return typeof data === "string" ? didYouMean(data, params.allowedValues) : undefined;
    case "maxLength":
      return schema.expected === undefined ? undefined : `Use ${schema.expected}.`;
    case "type":
      // A number is not a date, with quotes or without.
      return schema.format !== undefined || schema.secret === true
        ? undefined
        : fixFor([schema.type ?? []].flat(), data, written);
  }
}

function fixFor(
  types: readonly string[],
  data: unknown,
  written: string | undefined,
): string | undefined {
  if (types.includes("string")) {
    if (typeof data !== "number" && typeof data !== "boolean") return undefined;
    // YAML reads 0.1 as a number, which may already have lost digits.
    return written === undefined ? "Put it in quotes." : `Put it in quotes: "${written}".`;
  }
  const isPlain = data !== null && typeof data !== "object";
  if (types.includes("array")) return isPlain ? "Put it in brackets." : undefined;
  if (types.includes("object")) {
    const isKeyAndValue = written !== undefined && /^"[a-z_]+:\S/.test(written);
    return isKeyAndValue ? "Put a space after the colon." : undefined;
  }
  const pattern = types.includes("boolean") ? /^(true|false)$/ : /^-?\d+(\.\d+)?$/;
  return typeof data === "string" && pattern.test(data) ? "Leave out the quotes." : undefined;
}

/** The steps of a JSON Pointer in a value. */
export function fromPointer(pointer: string, root: unknown): (string | number)[] {
  const path: (string | number)[] = [];
  let here = root;
  for (const raw of pointer.split("/").slice(1)) {
    const part = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    const step = Array.isArray(here) ? Number(part) : part;
    path.push(step);
    here = (here as Record<string | number, unknown> | null | undefined)?.[step];
  }
  return path;
}
