import assert from "node:assert/strict";
import { fieldsOf, type OpenApi } from "./document.ts";

Deno.test("the fields of a schema that extends others are listed after theirs, each once", () => {
  const schemas = {
    Request: {
      required: ["id"],
      properties: { id: { type: "string" }, charge: { type: "string" } },
    },
    Detail: {
      allOf: [{ $ref: "#/components/schemas/Request" }],
      required: ["bodies", "charge"],
      properties: { bodies: { type: "object" }, charge: { type: "number" } },
    },
  };
  const document = { components: { schemas } } as unknown as OpenApi;
  const fields = fieldsOf(document, { $ref: "#/components/schemas/Detail" });
  assert.deepEqual(fields.map(({ name, type, required }) => [name, type, required]), [
    ["id", "string", true],
    ["charge", "number", true],
    ["bodies", "object", true],
  ]);
});
