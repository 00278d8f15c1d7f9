import Ajv2020, {
  type Ajv2020 as Ajv,
  type ErrorObject,
  type ValidateFunction,
} from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { withDefaults } from "./defaults.ts";
import type { GatewayFile } from "./gateway_file.ts";
import { explainSchemaError } from "./explain_schema_error.ts";
import { type ConfigIssue, formatPath, ISSUES_MAX, type Path } from "./issues.ts";
import type { LoadedYaml } from "../../lib/yaml/load_yaml.ts";
import { GATEWAY_SCHEMA, resolveSetting, settingAt, type SettingSchema } from "./schema.ts";
import { nearest } from "../../lib/suggest.ts";

let compiled: ValidateFunction | undefined;

/** Compiled at first use, not at import, so that the command line starts faster. */
function validator(): ValidateFunction {
  if (compiled !== undefined) return compiled;
  const ajv = new Ajv2020.default({
    allErrors: true,
    // A test validates our own schema; validating it at every start would take a fifth of this time.
    validateSchema: false,
    verbose: true,
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    code: { process: withoutErrorCopies },
  });
  addFormats.default(ajv);
  // The standards allow a leap second in a date-time and the port 99999 in a uri; JavaScript does not.
  narrowFormat(ajv, "date-time", (text) => !Number.isNaN(Date.parse(text)));
  narrowFormat(ajv, "uri", URL.canParse);
  // Our own annotations: a description of the pattern, and which strings are secrets.
  ajv.addVocabulary(["expected", "secret"]);
  return compiled = ajv.compile(GATEWAY_SCHEMA);
}

function narrowFormat(ajv: Ajv, format: string, accepts: (text: string) => boolean): void {
  const original = ajv.formats[format] as ((text: string) => boolean) | {
    validate: (text: string) => boolean;
  };
  const validate = typeof original === "function" ? original : original.validate;
  ajv.addFormat(format, (text) => validate(text) && accepts(text));
}

/**
 * Ajv copies all errors found so far for every invalid item of a list, which takes quadratic time on a
 * long list. Changes the generated code to stop collecting after some thousand errors.
 */
function withoutErrorCopies(code: string): string {
  return code.replaceAll(
    /vErrors\.concat\(\w+\.errors\)/g,
    (concat) => `vErrors.length<4000?${concat}:vErrors`,
  );
}

/** Validates the file against its JSON Schema and turns every violation into an issue. */
export function validateSchema(
  loaded: LoadedYaml,
): { file: GatewayFile | null; issues: ConfigIssue[] } {
  const check = validator();
  const isValid = check(loaded.value);
  const issues = literalSecrets(loaded);
  const reported = new Set([...loaded.issues, ...issues].map((issue) => issue.path));
  for (const error of withoutDuplicates(isValid ? [] : check.errors ?? [])) {
    if (issues.length >= ISSUES_MAX) break;
    const issue = explainSchemaError(error, loaded);
    // The value was rejected while reading: its absence is not another issue.
    if (reported.has(issue.path)) continue;
    if (error.keyword === "required" && loaded.incomplete.has(issue.path)) continue;
    issues.push(issue);
  }
  return {
    file: isValid ? withDefaults(GATEWAY_SCHEMA, loaded.value) as GatewayFile : null,
    issues,
  };
}

/** One mistake often violates several rules: keeps one violation per mistake. */
function withoutDuplicates(errors: readonly ErrorObject[]): ErrorObject[] {
  const enums = new Set<string>();
  const misspelt = new Set<string>();
  const misplaced = new Set<string>();
  const mixed = new Map<string, ErrorObject>();
  const incomplete = new Set(
    errors.filter(({ keyword }) => keyword === "required").map(({ instancePath }) => instancePath),
  );
  for (const error of errors) {
    if (error.keyword === "enum") enums.add(error.instancePath);
    if (error.keyword === "additionalProperties" && incomplete.has(error.instancePath)) {
      misspelt.add(`${error.instancePath}/${nearestKey(error)}`);
    }
    if (error.keyword === "false schema") {
      misplaced.add(error.instancePath);
      if (!mixed.has(parentOf(error))) mixed.set(parentOf(error), error);
    }
  }
  return errors.filter((error) => {
    switch (error.keyword) {
      case "if":
      case "propertyNames":
        return false; // the branch or the name has its own error
      case "type":
        return !enums.has(error.instancePath) && !misplaced.has(error.instancePath);
      case "required":
        return !misspelt.has(`${error.instancePath}/${error.params.missingProperty}`) &&
          !(error.schemaPath.includes("/then/") && mixed.has(error.instancePath));
      case "false schema":
        return mixed.get(parentOf(error)) === error;
      default:
        return !misplaced.has(error.instancePath);
    }
  });
}

function nearestKey(error: ErrorObject): string | undefined {
  const { properties } = error.parentSchema as { properties?: Record<string, unknown> };
  return nearest(error.params.additionalProperty, Object.keys(properties ?? {}));
}

function parentOf(error: ErrorObject): string {
  return error.instancePath.slice(0, error.instancePath.lastIndexOf("/"));
}

/** A secret in the file would end up in a repository: only references are allowed. */
function literalSecrets({ value, references, sourceMap }: LoadedYaml): ConfigIssue[] {
  return secretsOf(GATEWAY_SCHEMA, value, []).flatMap(({ path, secret }) => {
    const isLiteral = typeof secret === "number" || typeof secret === "string" && secret !== "";
    if (!isLiteral || references.has(formatPath(path))) return [];
    return [sourceMap.issue(path, {
      message: "a secret is written into the file",
      suggestion: "Set it as an environment variable and write ${NAME} here.",
    })];
  });
}

/** The values of all secret keys, in a document of any shape. */
function secretsOf(
  schema: SettingSchema,
  value: unknown,
  path: Path,
): { path: Path; secret: unknown }[] {
  if (schema.secret === true) return [{ path, secret: value }];
  if (Array.isArray(value)) {
    const items = schema.items === undefined ? {} : resolveSetting(schema.items);
    return value.flatMap((item, index) => secretsOf(items, item, [...path, index]));
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    secretsOf(settingAt(schema, key) ?? {}, inner, [...path, key])
  );
}
