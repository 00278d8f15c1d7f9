import assert from "node:assert/strict";
import { buildCapabilities } from "../../src/app/build_capabilities.ts";
import type { Imported } from "../../src/domain/catalogue/import/imported.ts";
import { compileConfig } from "../../src/platform/config/compile.ts";

const capabilities = buildCapabilities();

/** Asserts that what was imported is a configuration without errors, and returns its warnings. */
export function assertImported({ variables }: Imported, source: string): string[] {
  const { config, issues } = compileConfig({
    file: "gateway.yaml",
    source,
    environment: Object.fromEntries(
      variables.map(({ name, placeholder }) => [name, placeholder]),
    ),
    capabilities,
    now: Date.now(),
  });
  const text = issues.map(({ path, message }) => `${path}: ${message}`);
  assert.ok(config !== null, `${text.join("\n")}\n\n${source}`);
  return text;
}
