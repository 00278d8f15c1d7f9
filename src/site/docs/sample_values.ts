import { exampleModel } from "../../http/example_of.ts";
import { MODEL_TYPES } from "../../model_types/model_types.ts";
import type { Config } from "../../platform/config/config.ts";
import { variablePrefix } from "../api_key_variable.ts";

export interface SampleReader {
  readonly siteUrl: string;
  readonly baseUrl: string;
  /** The reader's account, or what a visitor would get: the plan `free`. */
  readonly account: { id: string; plan: string };
}

/**
 * The guides are written for the gateway that `npm start` runs, so that their samples work as they stand in
 * docs/use. A reader of the site gets the values of this gateway instead: its URLs, its name, and models that
 * the reader's account can use.
 */
export function fillInValues(config: Config, reader: SampleReader): (text: string) => string {
  const { name } = config.service;
  const values = new Map([
    ["http://127.0.0.1:8787/v1", reader.baseUrl],
    ["http://127.0.0.1:8787", reader.siteUrl],
    ["TOLLGATE", variablePrefix(name)],
    ["Tollgate", name],
    [`"tollgate"`, JSON.stringify(name)],
  ]);
  for (const type of MODEL_TYPES) {
    values.set(`sim-${type}`, exampleModel(config, type, reader.account)?.id ?? "model-id");
  }
  return (text) => text.replace(SAMPLES, (found) => values.get(found)!);
}

const TEXTS = 'http://127\\.0\\.0\\.1:8787(?:/v1)?|TOLLGATE|Tollgate|"tollgate"';
const SAMPLES = new RegExp(`${TEXTS}|sim-(?:${MODEL_TYPES.join("|")})`, "g");
