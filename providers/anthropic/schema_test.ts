import assert from "node:assert/strict";
import { closeSchema } from "./schema.ts";

Deno.test("a schema is closed at every depth and loses only what would be refused", () => {
  const given = {
    type: "object",
    $defs: { node: { type: "object", properties: { minimum: { type: "number", minimum: 1 } } } },
    properties: {
      list: { type: "array", minItems: 3, maxItems: 9, items: { $ref: "#/$defs/node" } },
      either: { anyOf: [{ type: "null" }, { type: "object", properties: {} }] },
      fixed: { enum: [{ minimum: 1 }], default: { maxLength: 2 } },
      when: { type: "string", format: "date-time", pattern: "^2", minLength: 3 },
    },
    required: ["list"],
  };
  const before = structuredClone(given);
  assert.deepEqual(closeSchema(given), {
    type: "object",
    $defs: {
      node: {
        type: "object",
        properties: { minimum: { type: "number" } },
        additionalProperties: false,
      },
    },
    properties: {
      list: { type: "array", minItems: 1, items: { $ref: "#/$defs/node" } },
      either: {
        anyOf: [{ type: "null" }, { type: "object", properties: {}, additionalProperties: false }],
      },
      fixed: { enum: [{ minimum: 1 }], default: { maxLength: 2 } },
      when: { type: "string", format: "date-time", pattern: "^2" },
    },
    required: ["list"],
    additionalProperties: false,
  });
  assert.deepEqual(given, before);
});
