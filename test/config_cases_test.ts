import assert from "node:assert/strict";
import { parse, stringify } from "yaml";
import { BASE_URL_REQUIRED, openAdapters } from "../providers/registry.ts";
import type { BuildCapabilities } from "../src/platform/config/checker.ts";
import { compileConfig } from "../src/platform/config/compile.ts";
import type { RouteEntry } from "../src/platform/config/gateway_file.ts";
import type { Config } from "../src/platform/config/config.ts";
import { describeConfig, type Description } from "../src/platform/config/describe.ts";
import type { Environment } from "../src/lib/yaml/load_yaml.ts";
import type { ConfigIssue } from "../src/platform/config/issues.ts";
import {
  GATEWAY_SCHEMA,
  resolveSetting,
  type SettingSchema,
} from "../src/platform/config/schema.ts";
import { changedSettings } from "./helpers/changed_settings.ts";

/**
 * Golden cases: a configuration file, a line `---`, and the exact result: its issues, or the settings of the
 * compiled configuration that differ from the defaults. `UPDATE_CASES=1` writes the current result; read the
 * diff before you commit it.
 */
const FOLDER = new URL("config_cases/", import.meta.url);
const NOW = "2026-06-01T00:00:00Z";

/** Fixed, so that a new endpoint changes no case. */
const RELEASED = new Set(["list_models", "retrieve_model", "list_prices"]);
const STANDARD: readonly Omit<RouteEntry, "stage">[] = [
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
  standardRoutes: STANDARD.map((route) => ({
    ...route,
    stage: RELEASED.has(route.operation) ? "released" : "planned",
  })),
  requests: new Set(["images_generations"]),
};

/** The smallest file, to compare with what a case sets. */
const SMALLEST = `providers: { sim: { adapter: simulator } }
models: [{ id: talk, name: Talk, type: chat, capabilities: [chat], upstreams: [{ provider: sim }] }]
prices: { default: { effective_at: "2026-01-01T00:00:00Z", entries: [{ model: talk, billing_type: per_call, price: "1", unit: call }] } }
`;
const STANDARD_ROUTES = describedAsJson(compileText(SMALLEST).config!).routes;

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
  const { config, issues } = compileText(source, env, now);
  const shown = issues.map(withoutLength);
  return {
    ...(env === undefined ? {} : { env }),
    ...(now === undefined ? {} : { now }),
    ...(shown.length === 0 ? {} : { issues: shown }),
    ...(config === null
      ? {}
      : { config: changedSettings(describedAsJson(config), STANDARD_ROUTES) }),
  };
}

/** As JSON, because the admin API returns it as JSON. */
function describedAsJson(config: Config): Description {
  return JSON.parse(JSON.stringify(describeConfig(config)));
}

function compileText(source: string, environment: Environment = {}, now = NOW) {
  return compileConfig({
    file: "gateway.yaml",
    source,
    environment,
    capabilities: CAPABILITIES,
    now: Date.parse(now),
  });
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

Deno.test("the case that sets everything sets every key of the schema to something else than its default", async () => {
  const file = new URL("everything_that_can_be_set_is_set.yaml", FOLDER);
  const { source } = split(await Deno.readTextFile(file));
  const set = new Set<string>();
  noteSetKeys(GATEWAY_SCHEMA, parse(source), "", set);
  const missing = [...keysOf(GATEWAY_SCHEMA, "")].filter((path) => !set.has(path));
  assert.deepEqual(missing, []);
});

/** The path of every key: `models[].upstreams[].cost.unit`. */
function* keysOf(schema: SettingSchema, path: string): Generator<string> {
  if (schema.items !== undefined) yield* keysOf(resolveSetting(schema.items), `${path}[]`);
  if (typeof schema.additionalProperties === "object") {
    yield* keysOf(resolveSetting(schema.additionalProperties), `${path}.*`);
  }
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    yield `${path}.${key}`;
    yield* keysOf(resolveSetting(inner), `${path}.${key}`);
  }
}

function noteSetKeys(schema: SettingSchema, value: unknown, path: string, set: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  const { items, additionalProperties, properties = {} } = schema;
  if (Array.isArray(value)) {
    for (const item of value) noteSetKeys(resolveSetting(items ?? {}), item, `${path}[]`, set);
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    const named = properties[key];
    if (named !== undefined) {
      const setting = resolveSetting(named);
      if (JSON.stringify(inner) !== JSON.stringify(setting.default)) set.add(`${path}.${key}`);
      noteSetKeys(setting, inner, `${path}.${key}`, set);
    } else if (typeof additionalProperties === "object") {
      noteSetKeys(resolveSetting(additionalProperties), inner, `${path}.*`, set);
    }
  }
}
