import assert from "node:assert/strict";
import schema from "../schemas/gateway.schema.json" with { type: "json" };
import { GATEWAY_SCHEMA } from "../src/platform/config/schema.ts";
import { configReference } from "./generate_config_reference.ts";

const page = configReference(GATEWAY_SCHEMA);

Deno.test("the configuration reference has a section for every block and a row for every key", () => {
  for (const [key, section] of Object.entries(schema.properties)) {
    assert.ok(page.includes(`| \`${key}\``), key);
    const keys = Object.keys("properties" in section ? section.properties : {});
    for (const inner of keys) assert.ok(page.includes(`| \`${inner}\``), `${key}.${inner}`);
  }
  for (const [name, block] of Object.entries(schema.$defs)) {
    const keys = Object.keys("properties" in block ? block.properties : {});
    for (const inner of keys) assert.ok(page.includes(`| \`${inner}\``), `${name}.${inner}`);
  }
  assert.ok(page.includes("## `models[].upstreams[].cost`"));
  assert.ok(page.includes("## `prices.<name>.entries[]`"));
});

Deno.test("a row shows type, range, default, allowed values and whether the key is required", () => {
  assert.ok(page.includes("| `currency_scale` | integer, 0 to 12 | `6` | Decimal places"));
  assert.ok(page.includes('| `queue` | one of `kv`, `postgres` | `"kv"` |'));
  assert.ok(page.includes("| `id`\\* | string |"));
  assert.match(page, /\| `capabilities`\\\* \| list: string \|.*Allowed values: `chat`, /);
});

Deno.test("a default is shown beside its key, and a long one below the table", () => {
  assert.ok(page.includes("| `requests_per_minute` | integer, 1 to 10000000 | `600` |"));
  assert.match(page, /\| `prompt` \| string \| see below \|/);
  assert.ok(page.includes("Default of `prompt`:\n\n```text\nYou are a screenwriter."));
});
