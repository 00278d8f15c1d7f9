import assert from "node:assert/strict";
import { issueText } from "../yaml/issue.ts";
import { readSchema } from "./read_schema.ts";

function issuesOf(text: string): string[] {
  return readSchema("s.json", text).issues.map((issue) =>
    `${issue.line}:${issue.column} ${issueText(issue)}`
  );
}

Deno.test("a schema may be JSON, also with tabs, or YAML", () => {
  const json = JSON.stringify({ properties: { size: { enum: ["1x1"] } } }, null, "\t");
  assert.deepEqual(issuesOf(json), []);
  assert.deepEqual(readSchema("s", json).schema, { properties: { size: { enum: ["1x1"] } } });
  assert.deepEqual(issuesOf("properties:\n  size: { maxLength: 5, expected: a size }\n"), []);
  assert.deepEqual(
    issuesOf("$defs: { size: { type: string } }\nproperties: { size: { $ref: '#/$defs/size' } }\n"),
    [],
  );
});

Deno.test("what is not a schema is refused with its line", () => {
  assert.deepEqual(issuesOf("[1]"), ["1:1 must be a JSON Schema: a block of keys"]);
  assert.deepEqual(issuesOf(""), ["1:1 must be a JSON Schema: a block of keys"]);
  assert.deepEqual(issuesOf('{\n  "type": "objekt"\n}'), [
    "2:11 type: must be one of array, boolean, integer, null, number, object, string; " +
    'got "objekt". Did you mean "object"?',
  ]);
  assert.deepEqual(issuesOf("properties:\n  size:\n    maxLength: many\n    minLength: few\n"), [
    '3:16 properties.size.maxLength: must be a whole number, 0 or more; got the text "many"',
    '4:16 properties.size.minLength: must be a whole number, 0 or more; got the text "few"',
  ]);
  assert.deepEqual(issuesOf("properties:\n  size: { pattern: '(' }\n"), [
    "2:20 properties.size.pattern: is not a regular expression: Unterminated group",
  ]);
  assert.deepEqual(issuesOf("properties:\n  size: { format: sizes }\n"), [
    "2:19 properties.size.format: is not a known format",
  ]);
  assert.deepEqual(issuesOf("properties:\n  size: { maxLenght: 5 }\n"), [
    "2:11 properties.size.maxLenght: is not a keyword of JSON Schema",
  ]);
  assert.deepEqual(issuesOf("properties:\n  size: { $ref: '#/$defs/sise' }\n"), [
    "2:17 properties.size.$ref: there is no schema #/$defs/sise in this file",
  ]);
  assert.deepEqual(issuesOf("properties:\n  size: { $ref: 'https://example.com/s.json' }\n"), [
    "2:17 properties.size.$ref: there is no schema https://example.com/s.json in this file",
  ]);
  assert.deepEqual(issuesOf("$schema: http://json-schema.org/draft-07/schema#\ntype: object\n"), [
    "1:10 $schema: must be https://json-schema.org/draft/2020-12/schema",
  ]);
  assert.match(issuesOf('{"type": "object"')[0]!, /^1:\d+ /);
});
