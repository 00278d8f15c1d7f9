import Ajv2020, { type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { violationIssue } from "../../src/lib/json_schema/violation_issue.ts";
import { issueText, sortIssues, type SourceIssue } from "../../src/lib/yaml/issue.ts";
import { loadYaml } from "../../src/lib/yaml/load_yaml.ts";
import schema from "../../schemas/provider.schema.json" with { type: "json" };
import type { ErrorRules } from "./faults.ts";
import type { EndingName } from "./finish.ts";
import type { ImageTokensRule } from "./image_tokens.ts";
import type { MediaProvider } from "../media/file_adapter.ts";
import { findMediaFaults } from "../media/check.ts";
import type { UsageRules } from "./usage.ts";
import type { WriteRules } from "./write.ts";

/** A `provider.yaml`: how a server differs from OpenAI's chat API, and how its media jobs work. */
export interface ProviderFile extends WriteRules, Pick<MediaProvider, "hosts" | "media"> {
  readonly name: string;
  readonly base_url?: string;
  readonly chat?: boolean;
  readonly embeddings?: boolean;
  readonly reasoning?: readonly string[];
  readonly finish_reasons?: Readonly<Record<string, EndingName>>;
  readonly usage?: UsageRules;
  readonly image_tokens?: readonly ImageTokensRule[];
  readonly errors?: ErrorRules;
}

/** Thrown with all issues of a file. */
export class BadProvider extends Error {
  override readonly name = "BadProvider";
  constructor(readonly file: string, readonly issues: readonly SourceIssue[]) {
    const lines = issues.map((issue) => `${file}:${formatIssue(issue)}`);
    super(`Cannot use ${file}:\n${lines.join("\n")}`);
  }
}

/** `line:column path: message`. */
export function formatIssue(issue: SourceIssue): string {
  return `${issue.line}:${issue.column} ${issueText(issue)}`;
}

let compiled: ValidateFunction | undefined;

/** A test validates the schema itself: doing it here would take three times as long as the rest of the start. */
function validator(): ValidateFunction {
  if (compiled !== undefined) return compiled;
  const ajv = new Ajv2020.default({
    allErrors: true,
    strict: true,
    allowUnionTypes: true,
    verbose: true,
    meta: false,
    validateSchema: false,
  });
  ajv.addVocabulary(["expected"]);
  return compiled = ajv.compile(schema);
}

/** Parses a `provider.yaml` and validates it against its schema. */
export function readProvider(file: string, source: string): ProviderFile {
  const loaded = loadYaml(file, source, null);
  if (loaded.issues.length > 0) throw new BadProvider(file, sortIssues(loaded.issues));
  const validate = validator();
  const violations = validate(loaded.value) ? [] : relevantErrors(validate.errors!);
  const issues = [
    ...violations.map((error) => violationIssue(error, loaded)),
    ...[...findMediaFaults(loaded.value)].map(({ path, message }) =>
      loaded.sourceMap.issue(path, { message })
    ),
  ];
  if (issues.length > 0) throw new BadProvider(file, sortIssues(issues));
  return loaded.value as ProviderFile;
}

/** Leaves out that no alternative matches where an error inside the intended alternative says why. */
function relevantErrors(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const own = errors.filter(({ keyword }) => keyword !== "oneOf" && keyword !== "const");
  if (own.length === 0) return errors;
  const isOtherKind = (error: ErrorObject) =>
    error.keyword === "type" && /\/oneOf\/\d+\/type$/.test(error.schemaPath);
  const meant = own.filter((error) => !isOtherKind(error));
  return own.filter((error) =>
    !isOtherKind(error) ||
    !meant.some(({ instancePath }) => instancePath.startsWith(error.instancePath))
  );
}
