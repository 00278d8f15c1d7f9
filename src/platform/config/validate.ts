import Ajv2020, {
  type Ajv2020 as Ajv,
  type ErrorObject,
  type ValidateFunction,
} from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import schema from "../../../schemas/gateway.schema.json" with { type: "json" };
import type { Declaration } from "./gateway_file.ts";
import { explainSchemaError } from "./explain_schema_error.ts";
import { type ConfigFault, FAULTS_MAX, formatPath, type Path } from "./faults.ts";
import type { LoadedYaml } from "./load.ts";
import { nearest } from "../../lib/suggest.ts";

let compiled: ValidateFunction | undefined;

/** Compiled at the first declaration, not at import: the command line starts faster without it. */
function validator(): ValidateFunction {
  if (compiled !== undefined) return compiled;
  const ajv = new Ajv2020.default({
    allErrors: true,
    // Our own schema is held against the standard by a test; at every start it would cost a fifth.
    validateSchema: false,
    verbose: true,
    strict: true,
    strictRequired: false,
    code: { process: withoutCopying },
  });
  addFormats.default(ajv);
  // A leap second is a date-time and a port of 99999 is a uri, by the standards and to nobody else.
  narrow(ajv, "date-time", (text) => !Number.isNaN(Date.parse(text)));
  narrow(ajv, "uri", URL.canParse);
  // Annotations of ours: what a pattern expects in words, and which texts are secrets.
  ajv.addVocabulary(["expected", "secret"]);
  return compiled = ajv.compile(schema);
}

function narrow(ajv: Ajv, format: string, fits: (text: string) => boolean): void {
  const known = ajv.formats[format] as ((text: string) => boolean) | {
    validate: (text: string) => boolean;
  };
  const validate = typeof known === "function" ? known : known.validate;
  ajv.addFormat(format, (text) => validate(text) && fits(text));
}

/**
 * Ajv copies all violations so far for every broken item of a list, which a long list of broken items
 * makes quadratic. Past a few thousand nobody needs more.
 */
function withoutCopying(code: string): string {
  return code.replaceAll(
    /vErrors\.concat\(\w+\.errors\)/g,
    (concat) => `vErrors.length<4000?${concat}:vErrors`,
  );
}

/** Holds the declaration against its JSON Schema and turns every violation into a fault. */
export function validateSchema(
  loaded: LoadedYaml,
): { declaration: Declaration | null; faults: ConfigFault[] } {
  const check = validator();
  const isValid = check(loaded.value);
  const faults = literalSecrets(loaded);
  const spoiled = new Set([...loaded.faults, ...faults].map((fault) => fault.path));
  for (const error of withoutEchoes(isValid ? [] : check.errors ?? [])) {
    if (faults.length >= FAULTS_MAX) break;
    const { path, key, ...text } = explainSchemaError(error, loaded);
    // What was refused while reading is not there to be judged.
    if (spoiled.has(formatPath(path))) continue;
    if (error.keyword === "required" && loaded.incomplete.has(formatPath(path))) continue;
    faults.push(loaded.places.fault(path, text, key ? "key" : "value"));
  }
  return { declaration: isValid ? loaded.value as Declaration : null, faults };
}

/** One mistake often breaks several rules: what only repeats another violation is left out. */
function withoutEchoes(errors: readonly ErrorObject[]): ErrorObject[] {
  const enums = new Set<string>();
  const misspelt = new Set<string>();
  const misplaced = new Set<string>();
  const mixed = new Map<string, ErrorObject>();
  const lacking = new Set(
    errors.filter(({ keyword }) => keyword === "required").map(({ instancePath }) => instancePath),
  );
  for (const error of errors) {
    if (error.keyword === "enum") enums.add(error.instancePath);
    if (error.keyword === "additionalProperties" && lacking.has(error.instancePath)) {
      misspelt.add(`${error.instancePath}/${meant(error)}`);
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
        return false; // said by the branch or the name itself
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

function meant(error: ErrorObject): string | undefined {
  const { properties } = error.parentSchema as { properties?: Record<string, unknown> };
  return nearest(error.params.additionalProperty, Object.keys(properties ?? {}));
}

function parentOf(error: ErrorObject): string {
  return error.instancePath.slice(0, error.instancePath.lastIndexOf("/"));
}

/** A key written into the file would end up in a repository: only references pass. */
function literalSecrets({ value, references, places }: LoadedYaml): ConfigFault[] {
  return secretsOf(value).flatMap(({ path, secret }) => {
    const isLiteral = typeof secret === "number" || typeof secret === "string" && secret !== "";
    if (!isLiteral || references.has(formatPath(path))) return [];
    return [places.fault(path, {
      message: "a secret is written into the file",
      suggestion: "Put it into the environment and write ${NAME} here.",
    })];
  });
}

/** Everything that stands where a secret belongs, in a document that may be of any shape. */
function secretsOf(value: unknown): { path: Path; secret: unknown }[] {
  const keysOf = (block: unknown): Record<string, unknown> =>
    typeof block === "object" && block !== null ? block as Record<string, unknown> : {};
  const { providers, storage, site } = keysOf(value);
  const signIn = keysOf(site).sign_in;
  const bucket = keysOf(keysOf(storage).s3);
  return [
    ...Object.entries(keysOf(providers)).map(([name, provider]) => ({
      path: ["providers", name, "api_key"],
      secret: keysOf(provider).api_key,
    })),
    ...["access_key_id", "secret_access_key"].map((key) => ({
      path: ["storage", "s3", key],
      secret: bucket[key],
    })),
    ...(Array.isArray(signIn) ? signIn : []).map((provider, index) => ({
      path: ["site", "sign_in", index, "client_secret"],
      secret: keysOf(provider).client_secret,
    })),
  ];
}
