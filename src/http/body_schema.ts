import Ajv2020, { type AnySchemaObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isStorableDate } from "../lib/storable_date.ts";
import { dropNulls } from "./absent_nulls.ts";
import { schemaError } from "./schema_error.ts";

const ajv = new Ajv2020.default({
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  verbose: true,
});
addFormats.default(ajv);
ajv.addFormat("date-time", { validate: isMoment });
// An annotation of ours: what a field expects, in words.
ajv.addVocabulary(["expected"]);

/** Also what the format lets through must be a moment: a leap second is none, nor is the year 10000. */
function isMoment(text: string): boolean {
  const { validate } = addFormats.default.get("date-time") as { validate(text: string): boolean };
  return validate(text) && isStorableDate(new Date(text));
}

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
    throw schemaError(compiled.errors![0]!);
  };
}
