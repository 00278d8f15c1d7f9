import Ajv2020, { type AnySchemaObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isStorableDate } from "../lib/storable_date.ts";
import { dropNulls } from "./drop_nulls.ts";
import { toSchemaError } from "./schema_error.ts";

const ajv = new Ajv2020.default({
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  verbose: true,
});
addFormats.default(ajv);
ajv.addFormat("date-time", { validate: isMoment });
// An annotation of ours: a description of valid values.
ajv.addVocabulary(["expected"]);

/** The format alone accepts leap seconds and years that cannot be stored. */
function isMoment(text: string): boolean {
  const { validate } = addFormats.default.get("date-time") as { validate(text: string): boolean };
  return validate(text) && isStorableDate(new Date(text));
}

interface BodySchemaOptions {
  /** Null in an optional field means absent, and is removed from the body. */
  nullIsAbsent?: boolean;
}

/** A check of request bodies, compiled once; throws an `ApiError` that names the field. */
export function bodySchema<T>(
  schema: AnySchemaObject,
  { nullIsAbsent = false }: BodySchemaOptions = {},
): (body: unknown) => T {
  let compiled: ValidateFunction | undefined;
  return function checkBody(body) {
    compiled ??= ajv.compile(schema);
    if (compiled(body)) return body as T;
    if (nullIsAbsent) {
      // Only a body that does not fit can have such nulls: valid bodies are checked once.
      dropNulls(schema, body);
      if (compiled(body)) return body as T;
    }
    throw toSchemaError(compiled.errors![0]!, body);
  };
}
