import assert from "node:assert/strict";
import process from "node:process";
import { openAdapters } from "../../../providers/registry.ts";
import { compileConfig, type CompiledConfig } from "./compile.ts";

const CAPABILITIES = {
  adapters: openAdapters(),
  operations: new Map(),
  standardRoutes: [],
  requests: new Set<string>(),
};

function compileText(source: string): CompiledConfig & { cpuMs: number } {
  const before = process.cpuUsage();
  const compiled = compileConfig({
    file: "f",
    source,
    environment: {},
    capabilities: CAPABILITIES,
    now: Date.parse("2026-06-01T00:00:00Z"),
  });
  const { user, system } = process.cpuUsage(before);
  return { ...compiled, cpuMs: (user + system) / 1000 };
}

const times = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join("");
const model = (id: string, caps = "[chat]") =>
  `  - { id: ${id}, name: ${id}, type: chat, capabilities: ${caps}, upstreams: [{ provider: sim }] }\n`;
const price = (id: string) =>
  `      - { model: ${id}, billing_type: per_call, price: "1", unit: call }\n`;
const BOOK = "prices:\n  default:\n    effective_at: 2026-01-01T00:00:00Z\n    entries:\n";
const HEAD = "providers:\n  sim: { adapter: simulator }\nmodels:\n";
const SMALL = `${HEAD}${model("talk")}${BOOK}${price("talk")}`;

/** About 240 KB: 1500 models with a price each. */
const GOOD = HEAD + times(1500, (i) => model(`model-${i}`)) + BOOK +
  times(1500, (i) => price(`model-${i}`));

/** Each of these once took a time that grew with the square of its size, or ended the stack. */
const TRAPS: Record<string, () => string> = {
  "unknown keys": () => SMALL + times(15_000, (i) => `key-${i}: 1\n`),
  "one key again and again": () => SMALL + times(15_000, () => "again: 1\n"),
  "models that are numbers": () => HEAD + times(25_000, () => "  - 1\n") + BOOK + price("talk"),
  "prices for models that are misspelt": () =>
    GOOD.replaceAll("{ model: model-", "{ model: modle-"),
  "prices without models": () => SMALL + times(1500, (i) => price(`unknown-${i}`)),
  "models without prices": () =>
    SMALL.replace(BOOK, times(1500, (i) => model(`model-${i}`)) + BOOK),
  "aliases by the thousand": () =>
    `${HEAD}${model("talk", "&caps [chat]")}${
      times(1500, (i) => model(`model-${i}`, "*caps"))
    }${BOOK}${price("talk")}`,
  "plans by the thousand": () => GOOD + "plans:\n" + times(900, (i) => `  plan-${i}: {}\n`),
  "books that all extend a large one": () =>
    GOOD +
    times(900, (i) =>
      `  book-${i}: { effective_at: 2026-01-01T00:00:00Z, extends: default, entries: [] }\n`),
  "routes by the thousand": () =>
    SMALL + "routes:\n" +
    times(
      4000,
      (i) => `  - { path: /r${i}, operation: generation, type: image, stage: planned }\n`,
    ),
  "waits by the thousand": () => SMALL + `webhooks: { retry_seconds: [${"x, ".repeat(25_000)}] }\n`,
  "references that never close": () =>
    SMALL + `service: { name: "${"${".repeat(200)}${"$${".repeat(60_000)}" }\n`,
  "a path of a megabyte": () =>
    SMALL + `routes: [{ path: "${"/a".repeat(500_000)}{", operation: chat }]\n`,
  "an address of a megabyte": () =>
    SMALL + `service: { support_url: "http://${"a.".repeat(500_000)}^" }\n`,
};

const measured = (() => {
  compileText(SMALL); // the validator is compiled once
  return compileText(GOOD);
})();

Deno.test("fifteen hundred models compile", () => {
  assert.deepEqual(measured.issues, []);
  assert.equal(measured.config?.models.size, 1500);
});

for (const [what, source] of Object.entries(TRAPS)) {
  Deno.test(`a file of ${what} costs no more for its size than a good one does`, () => {
    const text = source();
    const { cpuMs, issues } = compileText(text);
    const fair = measured.cpuMs * Math.max(0.1, text.length / GOOD.length);
    assert.ok(cpuMs < 10 * fair, `${Math.round(cpuMs)} ms where ${Math.round(fair)} ms are fair`);
    assert.ok(issues.length <= 2001, `${issues.length} issues`);
  });
}

Deno.test("a file of five megabytes and one of a million brackets are rejected before parsing", () => {
  for (
    const [source, message] of [
      [`# ${"x".repeat(5_000_000)}\n${SMALL}`, "the file is larger than 2 MiB"],
      [`${SMALL}x: ${"[".repeat(1_000_000)}`, "the file is nested too deeply"],
    ]
  ) {
    const { config, issues, cpuMs } = compileText(source!);
    assert.deepEqual([config, issues.length, issues[0]?.message], [null, 1, message]);
    assert.ok(cpuMs < 1000, `${cpuMs} ms`);
  }
});
