import type { ErrorObject } from "ajv";
import { fromPointer } from "../../lib/json_schema/explain_violation.ts";
import { violationIssue } from "../../lib/json_schema/violation_issue.ts";
import type { LoadedYaml } from "../../lib/yaml/load_yaml.ts";
import type { ConfigIssue, Path } from "./issues.ts";

/** The key that decides which other keys are allowed next to it, by the name of the block or of its section. */
const DECIDING_KEYS: Readonly<Record<string, string>> = {
  routes: "operation",
  models: "type",
  cost: "unit",
  service_tiers: "multiplier",
};
const REPLACEMENTS: Readonly<Record<string, (key: string) => string>> = {
  billing_type: priceKeys,
  unit: priceKeys,
  multiplier: () => "Write the amounts of the tier, or their multiplier.",
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
  const decidingKey = decidingKeyAt(path);
  const chosen = sourceMap.sourceText([...path.slice(0, -1), decidingKey]);
  const message = chosen === undefined
    ? `needs the key ${decidingKey}`
    : `is not allowed with ${decidingKey} ${chosen}`;
  const suggestion = REPLACEMENTS[decidingKey]?.(String(path.at(-1)));
  return sourceMap.issue(path, { message, suggestion }, "key");
}

function priceKeys(key: string): string {
  return key === "price" || key === "variants" ? "Use input_price and output_price." : "Use price.";
}

/** The innermost block that has a rule of its own. */
function decidingKeyAt(path: Path): string {
  const block = path.toReversed().find((key) => Object.hasOwn(DECIDING_KEYS, key));
  return DECIDING_KEYS[String(block)] ?? "billing_type";
}

function explainRoot(error: ErrorObject, loaded: LoadedYaml): ConfigIssue {
  const suggestion = "A configuration has at least providers, models and prices.";
  return error.data === null || error.data === undefined
    ? loaded.sourceMap.issue([], { message: "the file is empty", suggestion })
    : { ...violationIssue(error, loaded), suggestion };
}
