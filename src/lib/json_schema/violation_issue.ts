import type { ErrorObject } from "ajv";
import type { SourceIssue } from "../yaml/issue.ts";
import type { LoadedYaml } from "../yaml/load_yaml.ts";
import { explainViolation, YAML_TYPES } from "./explain_violation.ts";

/** The issue of a schema violation in a file, at the position of its value or key. */
export function violationIssue(
  error: ErrorObject,
  { sourceMap, value }: LoadedYaml,
): SourceIssue {
  const { path, kind, key, message, suggestion } = explainViolation(error, value, {
    types: YAML_TYPES,
    written: (path) => sourceMap.sourceText(path),
  });
  switch (kind) {
    case "missing":
      return sourceMap.issue(path, { message: `the key "${key}" is missing` });
    case "unknown":
      return sourceMap.issue([...path, key], { message: "unknown key", suggestion }, "key");
    case "name":
      return sourceMap.issue([...path, key], { message, suggestion }, "key");
    default:
      return sourceMap.issue(path, { message, suggestion });
  }
}
