import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { seededRandom } from "./random.ts";
import { instanceOf } from "./schema_instance.ts";
import { UnsatisfiableSchema } from "./schema_values.ts";

const ajv = new Ajv2020({ strict: false, logger: false, ownProperties: true });
// deno-lint-ignore no-explicit-any
(addFormats as any)(ajv);
const WORDS = ["tide", "Brittany", "moon"];

const make = (schema: unknown, seed = "seed") => instanceOf(schema, WORDS, seededRandom(seed));

function assertFits(schema: object, seed?: string): unknown {
  const instance = make(schema, seed);
  const validate = ajv.compile(schema);
  // As it will arrive: what JSON cannot carry does not count.
  const isValid = validate(JSON.parse(JSON.stringify(instance)));
  assert.ok(isValid, JSON.stringify({ schema, instance, errors: validate.errors }, null, 2));
  return instance;
}

const limits = (min: string, max: string, top: number) =>
  fc.record(
    { [min]: fc.nat(top), [max]: fc.nat(top).map((more) => more + top) },
    { requiredKeys: [] },
  );

const scalar = fc.oneof(
  fc.constantFrom({ type: "boolean" }, { type: "null" }, {}),
  fc.record({ enum: fc.array(fc.oneof(fc.string(), fc.integer()), { minLength: 1 }) }),
  // Ajv cannot compare objects with such a key: it calls it.
  fc.record({
    const: fc.jsonValue().filter((value) => !/"(valueOf|toString)":/.test(JSON.stringify(value))),
  }),
  limits("minLength", "maxLength", 40).map((more) => ({ type: "string", ...more })),
  fc.constantFrom("date-time", "date", "time", "email", "uri", "uuid", "ipv4", "ipv6", "hostname")
    .map((format) => ({ type: "string", format })),
  fc.tuple(fc.constantFrom("integer", "number"), fc.integer({ min: -1000, max: 1000 }), fc.nat(500))
    .map(([type, minimum, more]) => ({ type, minimum, maximum: minimum + more })),
  fc.tuple(fc.constantFrom("integer", "number"), fc.integer({ min: -50, max: 50 }))
    .map(([type, exclusiveMinimum]) => ({ type, exclusiveMinimum })),
  fc.integer({ min: -50, max: 50 }).map((exclusiveMaximum) => ({
    type: "number",
    exclusiveMaximum,
  })),
  fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: -40, max: 40 }))
    .map(([multipleOf, minimum]) => ({ type: "integer", multipleOf, minimum })),
  fc.constantFrom({ type: ["string", "null"] }, { type: ["integer", "boolean"] }),
);

/** Ajv takes a property of the one name that is left out for one that the schema does not have. */
const propertyName = fc.string({ minLength: 1 }).filter((name) => name !== "__proto__");

const { schema: anySchema } = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.tuple(
      fc.dictionary(propertyName, tie("schema"), { maxKeys: 4 }),
      fc.boolean(),
      fc.boolean(),
    ).map(([properties, isStrict, isClosed]) => ({
      type: "object",
      properties,
      ...(isStrict ? { required: Object.keys(properties) } : {}),
      ...(isClosed ? { additionalProperties: false } : {}),
    })),
    fc.tuple(tie("schema"), limits("minItems", "maxItems", 5))
      .map(([items, more]) => ({ type: "array", items, ...more })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 })
      .map((prefixItems) => ({ type: "array", prefixItems, items: false })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.tuple(tie("schema"), fc.string({ minLength: 1, maxLength: 3 })).map(([inner, name]) => ({
      allOf: [
        { type: "object", properties: { [name]: inner }, required: [name] },
        { type: "object", properties: { further: { type: "integer" } }, required: ["further"] },
      ],
    })).filter(({ allOf }) => !Object.hasOwn(allOf[0]!.properties, "further")),
  ),
}));

Deno.test("an instance of any schema is valid", () => {
  fc.assert(
    fc.property(anySchema, fc.string(), (schema, seed) => {
      assertFits(schema, seed);
    }),
    { numRuns: 200 },
  );
});

Deno.test("an instance is valid where schemas refer to each other", () => {
  fc.assert(
    fc.property(anySchema, anySchema, (one, other) => {
      assertFits({
        $defs: { one, "an/other~": other },
        type: "object",
        properties: { a: { $ref: "#/$defs/one" }, b: { $ref: "#/$defs/an~1other~0" } },
        required: ["a", "b"],
        additionalProperties: false,
      });
    }),
    { numRuns: 50 },
  );
});

Deno.test("an instance of a schema that contains itself ends", () => {
  assertFits({
    type: "object",
    properties: {
      value: { type: "string" },
      children: { type: "array", items: { $ref: "#" } },
      next: { anyOf: [{ $ref: "#" }, { type: "null" }] },
    },
    required: ["value", "children", "next"],
    additionalProperties: false,
  });
});

Deno.test("an instance of a union is one of its members", () => {
  const step = (kind: string) => ({
    type: "object",
    properties: { kind: { const: kind }, [kind]: { type: "integer", minimum: 3, maximum: 4 } },
    required: ["kind", kind],
    additionalProperties: false,
  });
  const steps = { type: "array", items: { oneOf: [step("walk"), step("swim")] }, minItems: 20 };
  const kinds = (assertFits(steps) as { kind: string }[]).map(({ kind }) => kind);
  assert.deepEqual([...new Set(kinds)].sort(), ["swim", "walk"]);
});

Deno.test("items are different from each other where they must be", () => {
  const items = { enum: ["a", "b", "c", "d"] };
  assertFits({ type: "array", items, uniqueItems: true, minItems: 4 });
});

Deno.test("strings come from the prompt", () => {
  assert.ok(WORDS.includes(String(make({ type: "string" }))));
});

Deno.test("any name may be that of a property", () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"integer"}},"required":["__proto__"]}',
  );
  assert.match(JSON.stringify(assertFits(schema)), /"__proto__":\d+/);
});

Deno.test("a schema that nothing satisfies is refused", () => {
  for (
    const schema of [
      false,
      { type: "integer", minimum: 0.2, maximum: 0.8 },
      { type: "array", items: false, minItems: 1 },
      { $ref: "#/$defs/missing" },
      { $ref: "#" },
      { type: "object", properties: { self: { $ref: "#" } }, required: ["self"] },
      { anyOf: [{ type: "array", items: { $ref: "#" }, minItems: 2 }, { $ref: "#" }] },
      { $ref: "https://example.com/schema" },
      { $ref: "#/%" },
      { type: "string", minLength: 1e9 },
      { type: "array", minItems: 1e9 },
      { type: "number", multipleOf: 0 },
      { type: "wisdom" },
    ]
  ) {
    assert.throws(() => make(schema), UnsatisfiableSchema, JSON.stringify(schema));
  }
});

Deno.test("a schema that is large and looked at for every value is given up", () => {
  const values = Array.from({ length: 100_000 }, (_, index) => index);
  const properties = Object.fromEntries(values.map((value) => [`p${value}`, false]));
  const list = (items: unknown) => ({ type: "array", minItems: 4_000, items });
  for (
    const schema of [
      list({ enum: values }),
      list({ anyOf: values.map(() => ({ type: "string" })) }),
      list({ allOf: [{ properties }, { properties }] }),
      list({ const: "x".repeat(1_000_000) }),
      list({ type: "string", minLength: 100_000 }),
      list({ allOf: [{ minLength: -1e300 }, { enum: values }] }),
      list({ $ref: `#/${"x/".repeat(500_000)}` }),
    ]
  ) {
    assert.throws(() => make(schema), UnsatisfiableSchema, JSON.stringify(schema).slice(0, 100));
  }
});
