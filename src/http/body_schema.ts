import Ajv2020, {
  type AnySchemaObject,
  type ErrorObject,
  type ValidateFunction,
} from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { Refusal } from "../base/refusal.ts";
import { dropNulls } from "./absent_nulls.ts";

const ajv = new Ajv2020.default({
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  verbose: true,
});
addFormats.default(ajv);

interface BodySchemaOptions {
  /** Null in an optional field is as good as none, and is taken out of the body. */
  nullIsAbsent?: boolean;
}

/** A check of request bodies, compiled once; throws the refusal that names the field. */
export function bodySchema<T>(
  schema: AnySchemaObject,
  { nullIsAbsent = false }: BodySchemaOptions = {},
): (body: unknown) => T {
  let compiled: ValidateFunction | undefined;
  return function checkBody(body) {
    compiled ??= ajv.compile(schema);
    if (compiled(body)) return body as T;
    if (nullIsAbsent) {
      // Only a body that did not fit can have such nulls: others pay nothing for them.
      dropNulls(schema, body);
      if (compiled(body)) return body as T;
    }
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
  return new Refusal("invalid_value", `${at} ${explain(error.keyword, params, error.message)}.`, {
    param: at,
  });
}

function explain(
  keyword: string,
  params: Record<string, unknown>,
  otherwise = "is not valid",
): string {
  switch (keyword) {
    case "enum":
      return `must be one of ${(params.allowedValues as unknown[]).map(String).join(", ")}`;
    case "type":
      return `must be ${[params.type].flat().filter((type) => type !== "null").join(" or ")}`;
    case "minItems":
    case "minLength":
      return params.limit === 1 ? "must not be empty" : `needs at least ${params.limit}`;
    case "maxItems":
      return `may not have more than ${params.limit} entries`;
    case "maxLength":
      return `may not be longer than ${params.limit} characters`;
    case "minimum":
      return `must be ${params.limit} or more`;
    case "maximum":
      return `must be ${params.limit} or less`;
    default:
      return otherwise;
  }
}
