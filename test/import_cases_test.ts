import assert from "node:assert/strict";
import { renderReport } from "../src/cli/import_report.ts";
import { renderDraft } from "../src/domain/catalogue/draft_config.ts";
import { importLitellm } from "../src/domain/catalogue/import/import_litellm.ts";
import { importNewApi } from "../src/domain/catalogue/import/import_new_api.ts";
import type { Imported, ImportOptions } from "../src/domain/catalogue/import/imported.ts";
import { accountCommands } from "../src/domain/catalogue/import/new_api_accounts.ts";
import { PriceList } from "../src/domain/catalogue/import/price_list.ts";
import { assertImported } from "./helpers/imported.ts";

const CASES = new URL("./import_cases/", import.meta.url);
const NOW = Date.parse("2026-11-16T12:00:00Z");
/** Every key in the samples ends so: `sk-…-file-A`. */
const SECRET = /[\w-]*(?:of-the-file|into-the-file|password)-[A-Z]\b/g;

const read = (path: string) => Deno.readTextFileSync(new URL(path, CASES));

function readOptional(path: string): string | null {
  try {
    return read(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Compares with the file, or writes it with UPDATE_CASES=1. */
function assertGolden(path: string, text: string): void {
  if (Deno.env.get("UPDATE_CASES") === "1") Deno.writeTextFileSync(new URL(path, CASES), text);
  assert.equal(text, read(path));
}

/** What the folder has decides which gateway it is from. */
function importCase(name: string, options: ImportOptions): { source: string; imported: Imported } {
  const litellm = readOptional(`${name}/config.yaml`);
  if (litellm !== null) {
    return { source: litellm, imported: importLitellm("config.yaml", litellm, options) };
  }
  const source = read(`${name}/dump.json`);
  const imported = importNewApi("dump.json", source, options);
  assertGolden(`${name}/accounts.sh`, accountCommands(imported.accounts));
  return { source, imported };
}

for (const { name } of Deno.readDirSync(CASES)) {
  Deno.test(`imported as in test/import_cases/${name}`, () => {
    const prices = readOptional(`${name}/prices.json`);
    const options = {
      priceList: prices === null ? null : new PriceList(prices),
      markup: prices === null ? "1.2" : "1",
      now: NOW,
    };
    const { source, imported } = importCase(name, options);
    const config = renderDraft(imported.draft, { head: [name], schema: "./schema.json" });
    const warnings = assertImported(imported, config);
    const report = renderReport(imported, warnings, undefined);
    assertGolden(`${name}/gateway.yaml`, config);
    assertGolden(`${name}/report.txt`, `${report}\n`);
    for (const [secret] of source.matchAll(SECRET)) {
      assert.ok(!config.includes(secret) && !report.includes(secret), secret);
    }
  });
}
