import type { ErrorObject } from "ajv";
import { fromPointer } from "../../lib/json_schema/explain_violation.ts";
import { violationIssue } from "../../lib/json_schema/violation_issue.ts";
import type { LoadedYaml } from "../../lib/yaml/load_yaml.ts";
import type { ConfigIssue } from "./issues.ts";

/** The key that decides which other keys are allowed next to it. */
const DECIDING_KEYS: Readonly<Record<string, string>> = { routes: "operation", models: "type" };
const REPLACEMENTS: Readonly<Record<string, (key: string) => string>> = {
  billing_type: (key) => key === "price" ? "Use input_price and output_price." : "Use price.",
  type: (key) => key === "upstreams" ? "Use chain." : "Use upstreams.",
};

/** Turns a schema violation into an issue that tells the operator how to fix it. */
export function explainSchemaError(error: ErrorObject, loaded: LoadedYaml): ConfigIssue {
  if (error.keyword === "false schema") return explainMixedKeys(error, loaded);
  if (error.instancePath === "" && error.keyword === "type") return explainRoot(error, loaded);
  return violationIssue(error, loaded);
}

function explainMixedKeys(error: ErrorObject, { sourceMap, value }: LoadedYaml): ConfigIssue {
  const path = fromPointer(error.instancePath, value);
  const decidingKey = DECIDING_KEYS[String(path[0])] ?? "billing_type";
  const chosen = sourceMap.sourceText([...path.slice(0, -1), decidingKey]);
  const message = chosen === undefined
    ? `needs the key ${decidingKey}`
    : `is not allowed with ${decidingKey} ${chosen}`;
  const suggestion = REPLACEMENTS[decidingKey]?.(String(path.at(-1)));
  return sourceMap.issue(path, { message, suggestion }, "key");
}

function explainRoot(error: ErrorObject, loaded: LoadedYaml): ConfigIssue {
  const suggestion = "A configuration has at least providers, models and prices.";
  return error.data === null || error.data === undefined
    ? loaded.sourceMap.issue([], { message: "the file is empty", suggestion })
    : { ...violationIssue(error, loaded), suggestion };
}
