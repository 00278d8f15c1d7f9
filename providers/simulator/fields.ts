import { WireError } from "./wire_error.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export function parseBody(text: string): JsonObject {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new WireError(
      400,
      "We could not parse the JSON body of your request. The OpenAI API expects a JSON payload.",
    );
  }
}

// Readers of single fields: null where the field is absent or null, OpenAI's error where it is invalid.

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function readString(fields: JsonObject, name: string, path = name): string | null {
  const value = fields[name] ?? null;
  if (value !== null && typeof value !== "string") throw wrongType(path, "a string", value);
  return value;
}

export function readBoolean(fields: JsonObject, name: string, path = name): boolean | null {
  const value = fields[name] ?? null;
  if (value !== null && typeof value !== "boolean") throw wrongType(path, "a boolean", value);
  return value;
}

export function readJsonObject(fields: JsonObject, name: string, path = name): JsonObject | null {
  const value = fields[name] ?? null;
  if (value !== null && !isJsonObject(value)) throw wrongType(path, "an object", value);
  return value;
}

export function readList(fields: JsonObject, name: string, path = name): readonly unknown[] | null {
  const value = fields[name] ?? null;
  if (value !== null && !Array.isArray(value)) throw wrongType(path, "an array", value);
  return value;
}

export function readNumber(
  fields: JsonObject,
  name: string,
  { kind, min, max }: { kind: "integer" | "decimal"; min: number; max: number },
): number | null {
  const value = fields[name] ?? null;
  if (value === null) return null;
  const article = kind === "integer" ? "an integer" : "a decimal";
  if (typeof value !== "number") throw wrongType(name, article, value);
  if (kind === "integer" && !Number.isInteger(value)) throw wrongType(name, article, value);
  if (value < min) throw outOfRange(name, kind, ["below", "minimum", "min", ">=", min], value);
  if (value > max) throw outOfRange(name, kind, ["above", "maximum", "max", "<=", max], value);
  return value;
}

export function missing(path: string): WireError {
  return new WireError(
    400,
    `Missing required parameter: '${path}'.`,
    path,
    "missing_required_parameter",
  );
}

export function wrongType(path: string, expected: string, value: unknown): WireError {
  return new WireError(
    400,
    `Invalid type for '${path}': expected ${expected}, but got ${described(value)} instead.`,
    path,
    "invalid_type",
  );
}

export function wrongValue(path: string, value: string, supported: readonly string[]): WireError {
  const quoted = supported.map((one) => `'${one}'`);
  const list = quoted.length < 2
    ? quoted.join("")
    : `${quoted.slice(0, -1).join(", ")}, and ${quoted.at(-1)}`;
  return new WireError(
    400,
    `Invalid value: '${value}'. Supported values are: ${list}.`,
    path,
    "invalid_value",
  );
}

function outOfRange(
  path: string,
  kind: string,
  [side, edge, short, sign, limit]: [string, string, string, string, number],
  value: number,
): WireError {
  return new WireError(
    400,
    `Invalid '${path}': ${kind} ${side} ${edge} value. ` +
      `Expected a value ${sign} ${limit}, but got ${value} instead.`,
    path,
    `${kind}_${side}_${short}_value`,
  );
}

function described(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a decimal number";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
