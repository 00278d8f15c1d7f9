import type { AnySchemaObject, ValidateFunction } from "ajv/dist/2020.js";
import type { RequestSchema } from "../../schemas/requests.ts";
import { ApiError } from "../lib/api_error.ts";
import { requestAjv } from "../lib/json_schema/request_ajv.ts";
import { allowNulls, dropNulls } from "./drop_nulls.ts";
import { toSchemaError } from "./schema_error.ts";

const ajv = requestAjv();

/** The JSON body that a route accepts. */
export interface RequestBody<Body> {
  /** Name of its schema in schemas/requests. */
  readonly name: string;
  readonly schema: AnySchemaObject;
  /** The schema as the OpenAPI document has it. */
  readonly published: AnySchemaObject;
  /** A request without a body counts as one with an empty object. */
  readonly isOptional: boolean;
  /** How many values it may have even if the configuration allows fewer: lists of numbers are cheap to read. */
  readonly valuesMin?: number | undefined;
  /** Throws an `ApiError` that names the field. */
  check(body: unknown): Body;
}

interface RequestBodyOptions {
  /** Null in an optional field means absent, and is removed from the body. */
  nullIsAbsent?: boolean;
  /** The body is stored, so that its texts must be such that the database accepts them. */
  isStored?: boolean;
  isOptional?: boolean;
  valuesMin?: number;
}

/** A body that is checked by its schema, which is compiled once, with the first request. */
export function requestBody<Body>(
  { name, schema }: RequestSchema<Body>,
  { nullIsAbsent = false, isStored = false, isOptional = false, valuesMin }: RequestBodyOptions =
    {},
): RequestBody<Body> {
  let compiled: ValidateFunction<Body> | undefined;
  const fits = (body: unknown): body is Body => {
    compiled ??= ajv.compile<Body>(schema);
    if (compiled(body)) return true;
    if (!nullIsAbsent) return false;
    // Only a body that does not fit can have such nulls: valid bodies are checked once.
    dropNulls(schema, body);
    return compiled(body);
  };
  return {
    name,
    schema,
    published: nullIsAbsent ? allowNulls(schema) : schema,
    isOptional,
    valuesMin,
    check(body) {
      if (!fits(body)) throw toSchemaError(compiled!.errors![0]!, body);
      if (isStored) checkStorable(body, "");
      return body;
    },
  };
}

/** The same schema under another title, with every field optional: for changes of what the schema creates. */
export function withoutRequired<Body>(
  { name, schema }: RequestSchema<Body>,
  title: string,
): RequestSchema<Partial<Body>> {
  return { name, schema: { ...schema, title, required: [] } };
}

/** The database accepts neither NUL nor half a surrogate pair. */
function checkStorable(value: unknown, at: string): void {
  if (typeof value === "string") {
    if (value.isWellFormed() && !value.includes("\0")) return;
    const message =
      `${at} contains a character that cannot be stored, such as NUL or half an emoji.`;
    throw new ApiError("invalid_value", message, { param: at });
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    checkStorable(part, at === "" ? name : `${at}.${name}`);
  }
}
