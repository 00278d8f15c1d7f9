import assert from "node:assert/strict";
import { parse, stringify } from "yaml";
import { BASE_URL_REQUIRED, openAdapters } from "../providers/registry.ts";
import type { BuildCapabilities } from "../src/platform/config/checker.ts";
import { compileConfig } from "../src/platform/config/compile.ts";
import { describeConfig } from "../src/platform/config/describe.ts";
import type { ConfigFault } from "../src/platform/config/faults.ts";

/**
 * Golden cases: a declaration, a line `---`, and what it must give: its plan or its faults, exactly.
 * `UPDATE_CASES=1` writes what it gives now; read the difference before keeping it.
 */
const FOLDER = new URL("config_cases/", import.meta.url);
const NOW = "2026-06-01T00:00:00Z";

const KNOWN: BuildCapabilities = {
  adapters: openAdapters(),
  addressNeeded: BASE_URL_REQUIRED,
  operations: new Set(["list_models", "retrieve_model", "list_prices"]),
  requests: new Set(["images_generations"]),
};

interface Expected {
  env?: Record<string, string>;
  now?: string;
  faults?: unknown[];
  plan?: unknown;
}

const files = [...Deno.readDirSync(FOLDER)].map((entry) => entry.name).filter((name) =>
  name.endsWith(".yaml")
);

for (const file of files.sort()) {
  Deno.test(`declaration: ${file.replace(".yaml", "").replaceAll("_", " ")}`, async () => {
    const url = new URL(file, FOLDER);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await Deno.readFile(url));
    const { source, expected } = split(text);
    const given = compileCase(source, expected);
    if (Deno.env.get("UPDATE_CASES") === "1") {
      return await Deno.writeTextFile(url, `${source}---\n${stringify(given, { lineWidth: 0 })}`);
    }
    assert.deepEqual(given, expected);
  });
}

function split(text: string): { source: string; expected: Expected } {
  const at = [...text.matchAll(/^---\n/gm)].at(-1)?.index;
  assert.ok(
    at !== undefined,
    "a case needs a line --- between the declaration and what it must give",
  );
  return { source: text.slice(0, at), expected: parse(text.slice(at + 4)) ?? {} };
}

function compileCase(source: string, { env, now }: Expected): Expected {
  const { config, faults } = compileConfig({
    file: "gateway.yaml",
    source,
    environment: env ?? {},
    known: KNOWN,
    now: Date.parse(now ?? NOW),
  });
  const told = faults.map(tell);
  return {
    ...(env === undefined ? {} : { env }),
    ...(now === undefined ? {} : { now }),
    ...(told.length === 0 ? {} : { faults: told }),
    // Through JSON, as an operator would see it: nothing that cannot be shown is compared.
    ...(config === null ? {} : { plan: JSON.parse(JSON.stringify(describeConfig(config))) }),
  };
}

function tell(
  { severity, line, column, path, message, suggestion }: ConfigFault,
): Record<string, unknown> {
  return {
    ...(severity === "error" ? {} : { severity }),
    line,
    column,
    path,
    message,
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}
