import assert from "node:assert/strict";
import Ajv2020 from "ajv/dist/2020.js";

/** As in src/platform/config/validate.ts. */
const CONCAT = /vErrors\.concat\(\w+\.errors\)/g;

const SCHEMA = {
  $defs: { item: { type: "object", required: ["a"] } },
  type: "array",
  items: { $ref: "#/$defs/item" },
};

function compile(process: (code: string) => string) {
  // `item` is large enough to get a function of its own only when it is not inlined.
  const options = { allErrors: true, inlineRefs: false, code: { process } };
  return new Ajv2020.default(options).compile(SCHEMA);
}

Deno.test("ajv: generated code collects the errors of a referenced schema with vErrors.concat", () => {
  const found: string[] = [];
  compile((code) => {
    found.push(...code.match(CONCAT) ?? []);
    return code;
  });
  assert.ok(found.length > 0, "The expression in src/platform/config/validate.ts matches nothing.");
});

Deno.test("ajv: the replaced code stops collecting errors and still finds the value invalid", () => {
  const validate = compile((code) =>
    code.replaceAll(CONCAT, (concat) => `vErrors.length<4000?${concat}:vErrors`)
  );
  assert.equal(validate(Array(20_000).fill({})), false);
  assert.equal(validate.errors!.length, 4_000);
  assert.equal(validate([{ a: 1 }]), true);
});
