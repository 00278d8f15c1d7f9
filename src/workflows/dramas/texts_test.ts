import assert from "node:assert/strict";
import { completeRoles, readAnswer, ROLES_SCHEMA, scriptSchema, withOwn } from "./texts.ts";

const SCRIPT = {
  synopsis: "A tide.",
  scenes: [1, 2, 3].map((n) => ({ heading: `Beach ${n}`, action: "Mara waits.", dialogue: [] })),
};

Deno.test("a response is read from its code fence, and rejected when it does not match the schema", () => {
  const schema = scriptSchema(1, 3);
  const text = "Here you are:\n```json\n" + JSON.stringify(SCRIPT) + "\n```";
  assert.deepEqual(readAnswer(text, schema), SCRIPT);
  assert.equal(readAnswer("{not json}", schema), null);
  assert.equal(readAnswer("Sorry.", schema), null);
  const four = { ...SCRIPT, scenes: [...SCRIPT.scenes, SCRIPT.scenes[0]] };
  assert.equal(readAnswer(JSON.stringify(four), schema), null);
});

Deno.test("an operator's schema adds fields", () => {
  const own = { type: "object", required: ["genre"], properties: { genre: { type: "string" } } };
  const schema = withOwn(ROLES_SCHEMA, own);
  assert.equal(readAnswer('{"characters":[]}', schema), null);
  assert.deepEqual(readAnswer('{"characters":[],"genre":"noir"}', schema), {
    characters: [],
    genre: "noir",
  });
});

Deno.test("each character of the request has one role", () => {
  const roles = {
    characters: [{ name: "MARA ", looks: "tall" }, { name: "mara", looks: "short" }],
  };
  assert.deepEqual(completeRoles(roles, [{ name: "Mara" }, { name: "Jon" }]).characters, [
    { name: "MARA ", looks: "tall" },
    { name: "Jon", looks: "" },
  ]);
});
