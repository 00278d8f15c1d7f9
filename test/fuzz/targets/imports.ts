import { renderDraft } from "../../../src/domain/catalogue/draft_config.ts";
import { importLitellm } from "../../../src/domain/catalogue/import/import_litellm.ts";
import { type Imported, ImportError } from "../../../src/domain/catalogue/import/imported.ts";
import { assertImported } from "../../helpers/imported.ts";
import { mutate } from "../mutate.ts";
import type { FuzzTarget } from "../target.ts";

const CASES = new URL("../../import_cases/", import.meta.url);
const OPTIONS = { priceList: null, markup: "1.25", now: Date.parse("2026-11-16T12:00:00Z") };
const COST = "input_cost_per_token: 1e-6, output_cost_per_token: 1e-6";
const TOKENS = [
  ..."{}[]:,-#&*!|>'\"%\n\\/$".split(""),
  "${",
  "${X}",
  "os.environ/",
  "os.environ/X Y",
  "__proto__: ",
  "constructor: ",
  `  - { model_name: m, litellm_params: { model: openai/m, ${COST} } }\n`,
  "openai/*",
  "azure/",
  "null",
  "~",
  ".nan",
  ".inf",
  "1e999",
  "1e-30",
  "-1",
  "\u0000",
  "\u2028",
  "\uD800",
  "https://a:b@x.example/v1?c=d",
];

/** Another gateway's file becomes a configuration without errors, or is refused with the reason. */
const target: FuzzTarget = {
  async seeds() {
    const seeds: Uint8Array[] = [];
    for await (const { name } of Deno.readDir(CASES)) {
      seeds.push(await Deno.readFile(new URL(`${name}/config.yaml`, CASES)));
    }
    return seeds;
  },
  generate: (random, corpus) => mutate(random, { corpus, tokens: TOKENS }),
  run(input) {
    const imported = importOrRefuse(new TextDecoder().decode(input));
    if (imported === null) return;
    assertImported(imported, renderDraft(imported.draft, { head: [], schema: "s" }));
  },
};

function importOrRefuse(text: string): Imported | null {
  try {
    return importLitellm("config.yaml", text, OPTIONS);
  } catch (error) {
    if (error instanceof ImportError) return null;
    throw error;
  }
}

export default target;
