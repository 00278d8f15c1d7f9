import type { AnySchemaObject, ErrorObject } from "ajv/dist/2020.js";
import { type Path, sortIssues, type SourceIssue } from "../yaml/issue.ts";
import { type LoadedYaml, loadYaml } from "../yaml/load_yaml.ts";
import { requestAjv } from "./request_ajv.ts";
import { violationIssue } from "./violation_issue.ts";

export const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** A JSON Schema that an operator wrote, as JSON or YAML. */
export interface ReadSchema {
  /** Null when the text is not a schema. */
  schema: AnySchemaObject | null;
  issues: readonly SourceIssue[];
  loaded: LoadedYaml;
}

/** Reads a schema of request bodies, and finds everything that would fail when a request is checked. */
export function readSchema(file: string, text: string): ReadSchema {
  // JSON may be indented with tabs, YAML may not.
  const loaded = loadYaml(file, text.replace(/^\t+/gm, (tabs) => " ".repeat(tabs.length)), null);
  const issues = loaded.issues.length > 0 ? loaded.issues : findIssues(loaded);
  const schema = issues.length > 0 ? null : loaded.value as AnySchemaObject;
  return { schema, issues: sortIssues(issues), loaded };
}

function findIssues(loaded: LoadedYaml): SourceIssue[] {
  const { value, sourceMap } = loaded;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [sourceMap.issue([], { message: "must be a JSON Schema: a block of keys" })];
  }
  const { $schema = DIALECT } = value as AnySchemaObject;
  if ($schema !== DIALECT) {
    return [sourceMap.issue(["$schema"], { message: `must be ${DIALECT}` })];
  }
  // The narrowing schema may leave out the types: those of the built-in schema hold as well.
  const ajv = requestAjv({ strictTypes: false, allErrors: true });
  if (!ajv.validateSchema(value)) {
    return relevantErrors(ajv.errors!).map((error) => violationIssue(error, loaded));
  }
  try {
    ajv.compile(value);
    return [];
  } catch (error) {
    return [explainCompileError(error as Error, loaded)];
  }
}

/** The vocabularies of the dialect repeat an error: keeps one per position. */
function relevantErrors(errors: readonly ErrorObject[]): ErrorObject[] {
  const first = new Map<string, ErrorObject>();
  for (const error of errors) {
    if (!first.has(error.instancePath)) first.set(error.instancePath, error);
  }
  return [...first.values()];
}

/** What Ajv says about a schema that it cannot compile, and what to look for in the schema. */
const COMPILE_ERRORS: readonly {
  /** The texts around the wrong part, which `rest` follows. */
  around: readonly [before: string, after: string];
  /** Keys that can hold the wrong part; without any, it is itself a key. */
  keys: readonly string[];
  message(part: string, rest: string): string;
}[] = [
  {
    around: ['strict mode: unknown keyword: "', '"'],
    keys: [],
    message: () => "is not a keyword of JSON Schema",
  },
  {
    around: ["can't resolve reference ", " from id"],
    keys: ["$ref", "$dynamicRef"],
    message: (target) => `there is no schema ${target} in this file`,
  },
  {
    around: ["Invalid regular expression: /", "/u: "],
    keys: ["pattern"],
    message: (_, reason) => `is not a regular expression: ${reason}`,
  },
  {
    around: ['unknown format "', '" ignored'],
    keys: ["format"],
    message: () => "is not a known format",
  },
];

/** Ajv does not tell where the mistake is: the wrong part is looked up in the schema. */
function explainCompileError({ message }: Error, { value, sourceMap }: LoadedYaml): SourceIssue {
  for (const { around: [before, after], keys, message: explain } of COMPILE_ERRORS) {
    const end = message.lastIndexOf(after);
    if (!message.startsWith(before) || end < before.length) continue;
    const part = message.slice(before.length, end);
    const path = keys.length === 0
      ? findPath(value, (key) => key === part)
      : findPath(value, (key, inner) => keys.includes(key) && inner === part);
    const explained = { message: explain(part, message.slice(end + after.length)) };
    return sourceMap.issue(path ?? [], explained, keys.length === 0 ? "key" : "value");
  }
  return sourceMap.issue([], { message: message.replace("strict mode: ", "") });
}

function findPath(
  value: unknown,
  isWanted: (key: string, value: unknown) => boolean,
  path: Path = [],
): Path | null {
  if (typeof value !== "object" || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    const here = [...path, Array.isArray(value) ? Number(key) : key];
    if (isWanted(key, inner)) return here;
    const found = findPath(inner, isWanted, here);
    if (found !== null) return found;
  }
  return null;
}
