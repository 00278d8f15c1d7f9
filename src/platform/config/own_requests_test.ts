import assert from "node:assert/strict";
import { join } from "node:path";
import { buildCapabilities } from "../../app/build_capabilities.ts";
import { compileConfig } from "./compile.ts";
import { describeConfig } from "./describe.ts";
import { diffConfigs, renderChanges } from "./diff.ts";

const CONFIG = `providers: { sim: { adapter: simulator } }
models: [{ id: m, name: M, type: image, capabilities: [text_to_image], upstreams: [{ provider: sim }] }]
prices: { default: { effective_at: 2026-01-01T00:00:00Z, entries: [{ model: m, billing_type: per_call, price: "1", unit: image }] } }
routes: [{ path: /posters, operation: generation, type: image, request: ./schemas/posters.json }]
`;
const SCHEMA = '{ "required": ["size"], "properties": { "size": { "enum": ["64x64"] } } }';
const capabilities = buildCapabilities();

/** A configuration next to a schema with this text; null: there is no such file. */
async function compiled(schema: string | null, stored?: ReadonlyMap<string, string>) {
  const folder = await Deno.makeTempDir({ prefix: "tollgate-own-" });
  try {
    if (schema !== null) {
      await Deno.mkdir(join(folder, "schemas"));
      await Deno.writeTextFile(join(folder, "schemas/posters.json"), schema);
    }
    const file = join(folder, "gateway.yaml");
    const result = compileConfig({
      file,
      source: CONFIG,
      environment: {},
      capabilities,
      now: Date.now(),
      stored,
    });
    const messages = result.issues.map(({ line, path, message }) => `${line} ${path}: ${message}`);
    return { ...result, messages, folder };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a request schema next to gateway.yaml belongs to the configuration and to its version", async () => {
  const { config, messages, files, watched, folder } = await compiled(SCHEMA);
  assert.deepEqual(messages, []);
  const [route] = config!.routes;
  assert.match(route!.request!, /^\.\/schemas\/posters\.json@[0-9a-f]{12}$/);
  assert.deepEqual(route!.requestSchema, JSON.parse(SCHEMA));
  assert.deepEqual(watched, [join(folder, "schemas/posters.json")]);
  assert.deepEqual([...files], [["./schemas/posters.json", SCHEMA]]);

  const changed = (await compiled(SCHEMA.replace("64x64", "128x64"))).config!;
  assert.notEqual(changed.version, config!.version);
  assert.match(
    renderChanges(diffConfigs(describeConfig(config!), describeConfig(changed))),
    /^~ routes\.\/posters\.request: "\.\/schemas\/posters\.json@\w+" → "\.\/schemas\/posters\.json@\w+"$/,
  );
});

Deno.test("a stored configuration takes the schema from the store, not from the disk", async () => {
  const stored = new Map([["./schemas/posters.json", SCHEMA]]);
  const { config, messages } = await compiled(null, stored);
  assert.deepEqual(messages, []);
  assert.equal(config!.version, (await compiled(SCHEMA)).config!.version);
});

Deno.test("a request schema that is missing, broken or does not fit the model type is refused", async () => {
  const place = "4 routes[0].request: ./schemas/posters.json";
  assert.deepEqual((await compiled(null)).messages, [`${place} does not exist`]);
  assert.deepEqual((await compiled('{\n"type": 5 }')).messages, [
    `${place}:2:9 type: must be one of array, boolean, integer, null, number, object, string; got 5`,
  ]);
  assert.deepEqual(
    (await compiled('{ "properties": { "sise": {} }, "required": ["sise"] }')).messages,
    [
      `${place}:1:19 properties.sise: requests of this model type have no field "sise". Did you mean "size"?`,
      `${place}:1:46 required[0]: requests of this model type have no field "sise". Did you mean "size"?`,
    ],
  );
  assert.deepEqual(
    (await compiled('{ "additionalProperties": false, "properties": { "prompt": {} } }')).messages,
    [`${place}:1:34 properties: needs the field "model", which every request has`],
  );
});
