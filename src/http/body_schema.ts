import type { AnySchemaObject, ValidateFunction } from "ajv/dist/2020.js";
import { requestAjv } from "../lib/json_schema/request_ajv.ts";
import { dropNulls } from "./drop_nulls.ts";
import { toSchemaError } from "./schema_error.ts";

const ajv = requestAjv();

interface BodySchemaOptions {
  /** Null in an optional field means absent, and is removed from the body. */
  nullIsAbsent?: boolean;
  /** A schema of an operator: compiled on its own, and without the types that another schema checks. */
  isOwn?: boolean;
}

/** A check of request bodies, compiled once; throws an `ApiError` that names the field. */
export function bodySchema<T>(
  schema: AnySchemaObject,
  { nullIsAbsent = false, isOwn = false }: BodySchemaOptions = {},
): (body: unknown) => T {
  let compiled: ValidateFunction | undefined;
  return function checkBody(body) {
    compiled ??= (isOwn ? requestAjv({ strictTypes: false }) : ajv).compile(schema);
    if (compiled(body)) return body as T;
    if (nullIsAbsent) {
      // Only a body that does not fit can have such nulls: valid bodies are checked once.
      dropNulls(schema, body);
      if (compiled(body)) return body as T;
    }
    throw toSchemaError(compiled.errors![0]!, body);
  };
}
