import assert from "node:assert/strict";
import { parse } from "yaml";
import { openAdapters } from "../../../providers/registry.ts";
import { compileOrThrow } from "./compile.ts";
import type { Config } from "./config.ts";
import { describeConfig } from "./describe.ts";
import { GATEWAY_SCHEMA, resolveSetting, type SettingSchema } from "./schema.ts";

const EVERYTHING = new URL(
  "../../../test/config_cases/everything_that_can_be_set_is_set.yaml",
  import.meta.url,
);

/** Every key of the schema with its path. */
function* settingsIn(schema: SettingSchema, path: string): Generator<[string, SettingSchema]> {
  if (schema.items !== undefined) yield* settingsIn(resolveSetting(schema.items), `${path}[]`);
  if (typeof schema.additionalProperties === "object") {
    yield* settingsIn(resolveSetting(schema.additionalProperties), `${path}.*`);
  }
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    yield [`${path}.${key}`, resolveSetting(inner)];
    yield* settingsIn(resolveSetting(inner), `${path}.${key}`);
  }
}

/** The case in which everything is set, with changes to its text. */
function compiledEverything(change = (source: string) => source): Config {
  const [source, expected] = Deno.readTextFileSync(EVERYTHING).split(/^---\n/m);
  const { env } = parse(expected!) as { env: Record<string, string> };
  return compileOrThrow({
    file: "gateway.yaml",
    source: change(source!),
    environment: env,
    capabilities: {
      adapters: openAdapters(),
      operations: new Map([
        ["list_models", { serves: [] }],
        ["chat", { serves: ["chat"] }],
        ["generation", { serves: ["image", "video", "drama"] }],
        ["speech", { serves: ["speech"] }],
      ]),
      standardRoutes: [],
      requests: new Set(["images_generations"]),
    },
    now: Date.parse("2026-06-01T00:00:00Z"),
  }).config;
}

Deno.test("a description of everything that can be set shows no secret", () => {
  const config = compiledEverything((source) =>
    source
      .replace("https://sim.example.com/v1", "https://ada:secret-5@sim.example.com/v1?key=secret-6")
      .replace("https://s3.example.com", "https://ada:secret-7@s3.example.com")
      .replace("https://id.example.com", "https://ada:secret-8@id.example.com?key=secret-9")
      .replace("X-Team: blue", "X-Team: secret-10")
  );
  const secrets = [...JSON.stringify(config.providers.get("sim")).matchAll(/secret-\d+/g)];
  assert.equal(secrets.length, 4, "the configuration itself has them");
  const description = JSON.stringify(describeConfig(config));
  assert.doesNotMatch(description, /secret-\d/);
  assert.ok(description.includes("https://sim.example.com/v1"), "the rest of a URL is shown");
});

Deno.test("what the schema calls a secret is never shown, and what sounds like one is called one", () => {
  const settings = [...settingsIn(GATEWAY_SCHEMA, "")];
  const secret = settings.filter(([, setting]) => setting.secret === true);
  assert.ok(secret.length >= 4);
  for (const [path, setting] of secret) assert.equal(setting.writeOnly, true, path);
  const soundsSecret = /(?:^|[._])(?:secret|password|passphrase|token|api_key|access_key)(?:_id)?$/;
  for (const [path, setting] of settings) {
    if (soundsSecret.test(path)) assert.equal(setting.secret, true, path);
  }
});

Deno.test("a setting that is added to the schema is described without further code", () => {
  const described = describeConfig(compiledEverything());
  for (const section of ["service", "storage", "limits", "webhooks", "outbound", "site"]) {
    const { properties = {} } = GATEWAY_SCHEMA.properties![section]!;
    assert.deepEqual(Object.keys(described[section] as object), Object.keys(properties));
  }
});
