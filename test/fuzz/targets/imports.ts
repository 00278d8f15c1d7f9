import { renderDraft } from "../../../src/domain/catalogue/draft_config.ts";
import { importLitellm } from "../../../src/domain/catalogue/import/import_litellm.ts";
import { importNewApi } from "../../../src/domain/catalogue/import/import_new_api.ts";
import { accountCommands } from "../../../src/domain/catalogue/import/new_api_accounts.ts";
import { type Imported, ImportError } from "../../../src/domain/catalogue/import/imported.ts";
import { assertImported } from "../../helpers/imported.ts";
import { mutate } from "../mutate.ts";
import { type Json, mutateJson } from "../mutate_json.ts";
import type { FuzzTarget } from "../target.ts";

const CASES = new URL("../../import_cases/", import.meta.url);
const OPTIONS = { priceList: null, markup: "1.25", now: Date.parse("2026-11-16T12:00:00Z") };
const COST = "input_cost_per_token: 1e-6, output_cost_per_token: 1e-6";
const OPEN_BRACE = "{".charCodeAt(0);
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
      const file = name.startsWith("litellm") ? "config.yaml" : "dump.json";
      seeds.push(await Deno.readFile(new URL(`${name}/${file}`, CASES)));
    }
    return seeds;
  },
  generate(random, corpus) {
    const dumps = corpus.filter((bytes) => bytes[0] === OPEN_BRACE);
    // Changed by bytes, JSON is hardly ever JSON.
    if (dumps.length === 0 || random.oneIn(2)) return mutate(random, { corpus, tokens: TOKENS });
    const kept = parseOrNull(new TextDecoder().decode(random.pick(dumps)));
    return new TextEncoder().encode(JSON.stringify(mutateJson(random, kept)));
  },
  run(input) {
    const text = new TextDecoder().decode(input);
    assertSound(orRefused(() => importLitellm("file", text, OPTIONS)));
    const imported = orRefused(() => importNewApi("file", text, OPTIONS));
    assertSound(imported);
    accountCommands(imported?.accounts ?? []);
  },
};

function assertSound(imported: Imported | null): void {
  if (imported === null) return;
  assertImported(imported, renderDraft(imported.draft, { head: [], schema: "s" }));
}

function orRefused<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof ImportError) return null;
    throw error;
  }
}

function parseOrNull(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export default target;
