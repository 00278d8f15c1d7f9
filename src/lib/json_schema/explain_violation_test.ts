import assert from "node:assert/strict";
import Ajv2020, { type AnySchemaObject } from "ajv/dist/2020.js";
import { loadYaml } from "../yaml/load_yaml.ts";
import { issueText } from "../yaml/issue.ts";
import { explainViolation, JSON_TYPES } from "./explain_violation.ts";
import { violationIssue } from "./violation_issue.ts";

const ajv = new Ajv2020.default({ verbose: true, strict: false });
ajv.addVocabulary(["expected", "secret"]);

function firstError(schema: AnySchemaObject, value: unknown) {
  const validate = ajv.compile(schema);
  assert.equal(validate(value), false);
  return validate.errors![0]!;
}

/** What the client of an API reads about the field `x`. */
function inBody(property: AnySchemaObject, x: unknown): string {
  const body = { x };
  const error = firstError({ properties: { x: property } }, body);
  const { path, message, suggestion } = explainViolation(error, body, { types: JSON_TYPES });
  return [`${path.join(".")} ${message}`, suggestion].filter(Boolean).join(". ");
}

/** What the author of a file reads about the key `x`. */
function inFile(property: AnySchemaObject, x: string): string {
  const loaded = loadYaml("f.yaml", `x: ${x}`, null);
  return issueText(
    violationIssue(firstError({ properties: { x: property } }, loaded.value), loaded),
  );
}

Deno.test("a value of the wrong type says what it must be, and how to fix it", () => {
  const range = { type: "integer", minimum: 1, maximum: 9 };
  assert.equal(inBody(range, "5"), "x must be a whole number from 1 to 9. Leave out the quotes.");
  assert.equal(
    inFile(range, '"5"'),
    'x: must be a whole number from 1 to 9; got the text "5". Leave out the quotes.',
  );
  assert.equal(inBody({ type: "string" }, 7), "x must be a string. Put it in quotes.");
  assert.equal(
    inFile({ type: "string" }, "0.10"),
    'x: must be a text; got 0.10. Put it in quotes: "0.10".',
  );
  const list = { type: "array", items: { type: "string" } };
  assert.equal(inBody(list, "a"), "x must be an array of strings. Put it in brackets.");
  assert.equal(inFile(list, "{}"), "x: must be a list of texts; got a block of keys");
  assert.equal(
    inFile({ type: "object" }, "name:Ada"),
    'x: must be a block of keys; got the text "name:Ada". Put a space after the colon.',
  );
});

Deno.test("an expected value in words replaces the type, the pattern and other keywords", () => {
  const size = { type: "string", pattern: "^\\d+x\\d+$", expected: "a size such as 1x1" };
  assert.equal(inBody(size, "big"), "x must be a size such as 1x1");
  assert.equal(inFile(size, "big"), 'x: must be a size such as 1x1; got "big"');
  assert.equal(inFile({ not: {}, expected: "something else" }, "1"), "x: must be something else");
});

Deno.test("bounds, duplicates and fixed values are explained", () => {
  assert.equal(inBody({ minItems: 2 }, [1]), "x needs at least 2 entries");
  assert.equal(inBody({ minLength: 1 }, ""), "x must not be empty");
  assert.equal(inBody({ maxProperties: 1 }, { a: 1, b: 2 }), "x may not have more than 1 keys");
  assert.equal(inBody({ minimum: 3 }, 2), "x must be 3 or more");
  assert.equal(inFile({ maximum: 3 }, "4"), "x: must be 3 or less; got 4");
  assert.equal(inBody({ uniqueItems: true }, ["a", "b", "a"]), "x.2 is listed twice");
  assert.equal(inFile({ uniqueItems: true }, "[a, a]"), "x[1]: is listed twice");
  assert.equal(inBody({ const: "a" }, "b"), 'x must be "a"');
  assert.equal(inBody({ multipleOf: 5 }, 7), "x must be multiple of 5");
});

Deno.test("unknown, missing and misspelt keys are named", () => {
  const schema = {
    type: "object",
    required: ["colour"],
    properties: { colour: {} },
    additionalProperties: false,
  };
  const missing = explainViolation(firstError(schema, { color: 1 }), {}, { types: JSON_TYPES });
  assert.deepEqual(
    [missing.kind, missing.key, missing.suggestion],
    ["missing", "colour", 'There is "color": was colour meant?'],
  );
  assert.equal(
    inFile({ ...schema, required: [] }, "{ colur: 1 }"),
    'x.colur: unknown key. Did you mean "colour"?',
  );
  assert.equal(inFile(schema, "{}"), 'x: the key "colour" is missing');
  const names = { propertyNames: { pattern: "^[a-z]+$", expected: "a lower-case name" } };
  assert.equal(inFile(names, "{ A1: 1 }"), "x.A1: must be a lower-case name");
});

Deno.test("a secret does not appear in its message", () => {
  const secret = { type: "string", secret: true, pattern: "^a", expected: "a key" };
  assert.equal(inFile(secret, "hunter2"), "x: must be a key");
  assert.equal(inFile(secret, "12345"), "x: must be a key; got a number");
});
