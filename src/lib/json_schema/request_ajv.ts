import Ajv2020, { type Ajv2020 as Ajv } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isStorableDate } from "../storable_date.ts";

/** A validator of request bodies. A schema of an operator gets its own: its `$id` may come back in a newer text. */
export function requestAjv(options: { strictTypes?: boolean; allErrors?: boolean } = {}): Ajv {
  const ajv = new Ajv2020.default({
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    verbose: true,
    ...options,
  });
  addFormats.default(ajv);
  ajv.addFormat("date-time", { validate: isMoment });
  // An annotation of ours: a description of valid values.
  ajv.addVocabulary(["expected"]);
  return ajv;
}

/** The format alone accepts leap seconds and years that cannot be stored. */
export function isMoment(text: string): boolean {
  const { validate } = addFormats.default.get("date-time") as { validate(text: string): boolean };
  return validate(text) && isStorableDate(new Date(text));
}
