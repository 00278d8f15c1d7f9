import type { ErrorObject } from "ajv";
import type { Path } from "./issues.ts";
import { fromPointer, type LoadedYaml } from "./load.ts";
import type { IssueText, SourceMap } from "./source_map.ts";
import { didYouMean } from "../../lib/suggest.ts";
import { YAML_TYPES } from "../../lib/yaml_types.ts";

/** A schema violation as text, with its path. */
export interface SchemaErrorText extends IssueText {
  path: Path;
  /** The key is wrong, not its value. */
  key?: true;
}

type Schema = Record<string, unknown> & {
  expected?: string;
  secret?: true;
  properties?: Record<string, unknown>;
};

/** Turns a schema violation into a message that tells the operator how to fix it. */
export function explainSchemaError(
  error: ErrorObject,
  { sourceMap, value }: LoadedYaml,
): SchemaErrorText {
  const path = fromPointer(error.instancePath, value);
  const parent = error.parentSchema as Schema;
  const params = error.params as Record<string, unknown>;
  const written = parent.secret === true ? undefined : sourceMap.sourceText(path);
  const got = written === undefined ? "" : `; got ${written}`;

  switch (error.keyword) {
    case "additionalProperties": {
      const key = params.additionalProperty as string;
      const suggestion = didYouMean(key, Object.keys(parent.properties ?? {}));
      return { path: [...path, key], key: true, message: "unknown key", suggestion };
    }
    case "required":
      return { path, message: `the key "${params.missingProperty}" is missing` };
    case "false schema":
      return explainMixedKeys(path, sourceMap);
    case "enum": {
      const allowed = params.allowedValues as string[];
      const wrong = typeof error.data === "string" ? error.data : "";
      const message = `expected one of ${allowed.join(", ")}; got ${written ?? nameOf(error.data)}`;
      return { path, message, suggestion: didYouMean(wrong, allowed) };
    }
    case "type":
      return explainType(error, path, written);
    case "pattern":
    case "format": {
      const what = parent.expected ?? "an absolute URL";
      if (error.propertyName === undefined) return { path, message: `expected ${what}${got}` };
      return { path: [...path, error.propertyName], key: true, message: `expected ${what}` };
    }
    case "minItems":
    case "minProperties":
    case "minLength":
      return {
        path,
        message: params.limit === 1 ? "must not be empty" : `needs at least ${params.limit}`,
      };
    case "maxItems":
    case "maxProperties":
      return { path, message: `holds more than ${params.limit} entries` };
    case "maxLength":
      return { path, message: `is longer than ${params.limit} characters` };
    case "minimum":
      return { path, message: `must be ${params.limit} or more${got}` };
    case "maximum":
      return { path, message: `must be ${params.limit} or less${got}` };
    case "uniqueItems":
      return {
        path: [...path, Math.max(params.i as number, params.j as number)],
        message: "is listed twice",
      };
    default:
      return { path, message: error.message ?? "is not valid" };
  }
}

/** The key that decides which other keys are allowed next to it. */
const DECIDING_KEYS: Readonly<Record<string, string>> = { routes: "operation", models: "type" };
const REPLACEMENTS: Readonly<Record<string, (key: string) => string>> = {
  billing_type: (key) => key === "price" ? "Use input_price and output_price." : "Use price.",
  type: (key) => key === "upstreams" ? "Use chain." : "Use upstreams.",
};

function explainMixedKeys(path: Path, sourceMap: SourceMap): SchemaErrorText {
  const decidingKey = DECIDING_KEYS[String(path[0])] ?? "billing_type";
  const chosen = sourceMap.sourceText([...path.slice(0, -1), decidingKey]);
  const message = chosen === undefined
    ? `needs the key ${decidingKey}`
    : `is not allowed with ${decidingKey} ${chosen}`;
  return { path, key: true, message, suggestion: REPLACEMENTS[decidingKey]?.(String(path.at(-1))) };
}

function explainType(error: ErrorObject, path: Path, written: string | undefined): SchemaErrorText {
  const { expected } = error.parentSchema as Schema;
  const type = String(error.params.type);
  if (path.length === 0) return explainRoot(error.data);
  const message = `expected ${expected ?? YAML_TYPES[type] ?? type}; got ${
    nameOf(error.data, written)
  }`;
  return { path, message, suggestion: suggestFix(type, written) };
}

function suggestFix(type: string, written: string | undefined): string | undefined {
  if (written === undefined) return undefined;
  // YAML reads 0.1 as a number, which may already have lost digits.
  if (type === "string") return `Put it in quotes: "${written}".`;
  if (type === "integer" && /^"-?\d+"$/.test(written)) return "Remove the quotes.";
  if (type === "object" && /^"[a-z_]+:\S/.test(written)) return "Put a space after the colon.";
  return undefined;
}

function explainRoot(value: unknown): SchemaErrorText {
  const suggestion = "A configuration has at least providers, models and prices.";
  if (value === null || value === undefined) {
    return { path: [], message: "the file is empty", suggestion };
  }
  return {
    path: [],
    message: `expected a block of keys; got ${nameOf(value)}`,
    suggestion,
  };
}

function nameOf(value: unknown, written?: string): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a block of keys";
  if (typeof value === "string") return written === undefined ? "a text" : `the text ${written}`;
  return written ?? `a ${typeof value}`;
}
