import assert from "node:assert/strict";
import { buildCapabilities } from "../../src/app/build_capabilities.ts";
import { compileConfig, type CompiledConfig } from "../../src/platform/config/compile.ts";
import { describeConfig } from "../../src/platform/config/describe.ts";
import { diffConfigs, renderChanges } from "../../src/platform/config/diff.ts";
import { renderIssues } from "../../src/platform/config/issues.ts";

export const SHIPPED = await Deno.readTextFile(new URL("../../gateway.yaml", import.meta.url));
const CAPABILITIES = buildCapabilities();
const NOW = Date.parse("2026-06-01T00:00:00Z");

export function compileText(
  source: string,
  environment: Record<string, string> = {},
): CompiledConfig {
  return compileConfig({
    file: "gateway.yaml",
    source,
    environment,
    capabilities: CAPABILITIES,
    now: NOW,
  });
}

const shippedPlan = describeConfig(compileText(SHIPPED).config!);

/** Whatever comes in: a plan that can be used, or faults that can be shown, inside the file. */
export function assertSound(source: string): void {
  const { config, issues } = compileText(source);
  const errors = issues.filter((fault) => fault.severity === "error");
  assert.equal(errors.length === 0, config !== null, "either a plan or an error");
  const lines = source.split("\n");
  for (const { line, column, length, message } of issues) {
    assert.ok(line >= 1 && line <= lines.length, `line ${line} of ${lines.length}: ${message}`);
    assert.ok(
      column >= 1 && column <= lines[line - 1]!.length + 1,
      `column ${column} in line ${line}: ${message}`,
    );
    assert.ok(length >= 1);
    assert.ok(!/undefined|\[object|NaN/.test(message.replaceAll(/"[^"]*"/g, "")), message);
  }
  renderIssues("gateway.yaml", source, issues);
  if (config !== null) renderChanges(diffConfigs(shippedPlan, describeConfig(config)));
}
