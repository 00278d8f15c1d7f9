import assert from "node:assert/strict";
import { parse, stringify } from "yaml";
import { BASE_URL_REQUIRED, openAdapters } from "../providers/registry.ts";
import type { BuildCapabilities } from "../src/platform/config/checker.ts";
import { compileConfig } from "../src/platform/config/compile.ts";
import type { RouteEntry } from "../src/platform/config/gateway_file.ts";
import { describeConfig } from "../src/platform/config/describe.ts";
import type { ConfigIssue } from "../src/platform/config/issues.ts";

/**
 * Golden cases: a configuration file, a line `---`, and the exact result: the compiled configuration or its
 * issues. `UPDATE_CASES=1` writes the current result; read the diff before you commit it.
 */
const FOLDER = new URL("config_cases/", import.meta.url);
const NOW = "2026-06-01T00:00:00Z";

/** Fixed, so that a new endpoint changes no case. */
const RELEASED = new Set(["list_models", "retrieve_model", "list_prices"]);
const STANDARD_ROUTES: readonly RouteEntry[] = [
  { path: "/models", operation: "list_models" },
  { path: "/models/{model_id}", operation: "retrieve_model" },
  { path: "/pricing/models", operation: "list_prices" },
  { path: "/balance", operation: "retrieve_balance" },
  { path: "/usage", operation: "usage" },
  { path: "/quotes", operation: "quotes" },
  { path: "/chat/completions", operation: "chat" },
  { path: "/files", operation: "files" },
  { path: "/images/generations", operation: "generation", type: "image" },
  { path: "/videos/generations", operation: "generation", type: "video" },
  { path: "/avatars/generations", operation: "generation", type: "avatar" },
  { path: "/dramas/generations", operation: "generation", type: "drama" },
  { path: "/audio/speech", operation: "speech" },
  { path: "/tasks", operation: "tasks" },
  { path: "/webhook_endpoints", operation: "webhook_endpoints" },
  { path: "/webhook_deliveries", operation: "webhook_deliveries" },
];

const OPERATIONS: BuildCapabilities["operations"] = new Map([
  ["list_models", { serves: [] }],
  ["retrieve_model", { serves: [], parameter: "model_id" }],
  ["list_prices", { serves: [] }],
  ["retrieve_balance", { serves: [] }],
  ["usage", { serves: [] }],
  ["quotes", { serves: [] }],
  ["chat", { serves: ["chat"] }],
  ["files", { serves: [] }],
  ["generation", { serves: ["image", "video", "avatar", "drama"] }],
  ["speech", { serves: ["speech"] }],
  ["tasks", { serves: [] }],
  ["webhook_endpoints", { serves: [] }],
  ["webhook_deliveries", { serves: [] }],
]);

const CAPABILITIES: BuildCapabilities = {
  adapters: openAdapters(),
  baseUrlRequired: BASE_URL_REQUIRED,
  operations: OPERATIONS,
  standardRoutes: STANDARD_ROUTES.map((route) => ({
    ...route,
    stage: RELEASED.has(route.operation) ? "released" : "planned",
  })),
  requests: new Set(["images_generations"]),
};

interface Expected {
  env?: Record<string, string>;
  now?: string;
  issues?: unknown[];
  config?: unknown;
}

const files = [...Deno.readDirSync(FOLDER)].map((entry) => entry.name).filter((name) =>
  name.endsWith(".yaml")
);

for (const file of files.sort()) {
  Deno.test(`configuration: ${file.replace(".yaml", "").replaceAll("_", " ")}`, async () => {
    const url = new URL(file, FOLDER);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await Deno.readFile(url));
    const { source, expected } = split(text);
    const actual = compileCase(source, expected);
    if (Deno.env.get("UPDATE_CASES") === "1") {
      return await Deno.writeTextFile(url, `${source}---\n${stringify(actual, { lineWidth: 0 })}`);
    }
    assert.deepEqual(actual, expected);
  });
}

function split(text: string): { source: string; expected: Expected } {
  const at = [...text.matchAll(/^---\n/gm)].at(-1)?.index;
  assert.ok(
    at !== undefined,
    "a case needs a line --- between the configuration and its result",
  );
  return { source: text.slice(0, at), expected: parse(text.slice(at + 4)) ?? {} };
}

function compileCase(source: string, { env, now }: Expected): Expected {
  const { config, issues } = compileConfig({
    file: "gateway.yaml",
    source,
    environment: env ?? {},
    capabilities: CAPABILITIES,
    now: Date.parse(now ?? NOW),
  });
  const shown = issues.map(withoutLength);
  return {
    ...(env === undefined ? {} : { env }),
    ...(now === undefined ? {} : { now }),
    ...(shown.length === 0 ? {} : { issues: shown }),
    // As JSON, because the admin API returns it as JSON.
    ...(config === null ? {} : { config: JSON.parse(JSON.stringify(describeConfig(config))) }),
  };
}

function withoutLength(
  { severity, line, column, path, message, suggestion }: ConfigIssue,
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
