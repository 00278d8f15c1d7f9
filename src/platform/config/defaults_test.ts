import assert from "node:assert/strict";
import { withDefaults } from "./defaults.ts";
import { GATEWAY_SCHEMA, resolveSetting, type SettingSchema } from "./schema.ts";

const SCHEMA: SettingSchema = {
  properties: {
    size: { default: 3 },
    note: { type: "string" },
    block: { properties: { deep: { default: [1] }, note: {} } },
    bucket: { required: ["name"], properties: { name: {}, region: { default: "eu" } } },
    items: { items: { properties: { weight: { default: 1 } } } },
    named: { additionalProperties: { properties: { on: { default: true } } } },
    free: { type: "object" },
  },
};

Deno.test("defaults are filled in, also in blocks that are left out, in items of lists and in named blocks", () => {
  assert.deepEqual(withDefaults(SCHEMA, {}), { size: 3, block: { deep: [1] } });
  assert.deepEqual(
    withDefaults(SCHEMA, {
      size: 0,
      bucket: { name: "b" },
      items: [{}, { weight: 2 }],
      named: { a: {} },
      free: { any: { size: null } },
    }),
    {
      size: 0,
      bucket: { name: "b", region: "eu" },
      items: [{ weight: 1 }, { weight: 2 }],
      named: { a: { on: true } },
      free: { any: { size: null } },
      block: { deep: [1] },
    },
  );
});

Deno.test("the file and the schema stay as they are", () => {
  const file = { items: [{}] };
  const filled = withDefaults(SCHEMA, file) as { block: { deep: number[] } };
  assert.deepEqual(file, { items: [{}] });
  filled.block.deep.push(2);
  assert.deepEqual(withDefaults(SCHEMA, {}), { size: 3, block: { deep: [1] } });
});

Deno.test("no default of the gateway's schema stands where it would have no effect", () => {
  const look = (schema: SettingSchema, path: string): void => {
    for (const [key, given] of Object.entries(schema.properties ?? {})) {
      const setting = resolveSetting(given);
      const isRequired = schema.required?.includes(key) ?? false;
      assert.ok(!isRequired || setting.default === undefined, `${path}.${key}`);
      look(setting, `${path}.${key}`);
    }
    if (schema.items !== undefined) look(resolveSetting(schema.items), `${path}[]`);
    if (typeof schema.additionalProperties === "object") {
      look(resolveSetting(schema.additionalProperties), `${path}.*`);
    }
  };
  look(GATEWAY_SCHEMA, "");
});
