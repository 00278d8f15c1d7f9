import Ajv2020, {
  type AnySchemaObject,
  type ErrorObject,
  type ValidateFunction,
} from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { Refusal } from "../base/refusal.ts";

const ajv = new Ajv2020.default({ strict: true, strictRequired: false, verbose: true });
addFormats.default(ajv);

/** A check of request bodies, compiled once; throws the refusal that names the field. */
export function bodySchema<T>(schema: AnySchemaObject): (body: unknown) => T {
  let compiled: ValidateFunction | undefined;
  return function checkBody(body) {
    compiled ??= ajv.compile(schema);
    if (compiled(body)) return body as T;
    throw toRefusal(compiled.errors![0]!);
  };
}

function toRefusal(error: ErrorObject): Refusal {
  const at = error.instancePath.slice(1).replaceAll("/", ".");
  const inner = (key: unknown) => at === "" ? String(key) : `${at}.${key}`;
  const params = error.params as Record<string, unknown>;
  if (error.keyword === "required") {
    const param = inner(params.missingProperty);
    return new Refusal("missing_field", `The field ${param} is missing.`, { param });
  }
  if (error.keyword === "additionalProperties") {
    const param = inner(params.additionalProperty);
    return new Refusal("unknown_field", `The field ${param} is not known here.`, { param });
  }
  if (at === "") return new Refusal("invalid_value", "The body must be a JSON object.");
  const allowed = error.keyword === "enum"
    ? `: ${(params.allowedValues as unknown[]).join(", ")}`
    : "";
  return new Refusal("invalid_value", `${at} ${error.message}${allowed}.`, { param: at });
}
