import assert from "node:assert/strict";
import { chanceFrom } from "./chance.ts";
import { storyFor } from "./compose_text.ts";

const list = (fields: string[], more = {}) => ({
  type: "array",
  items: { required: fields, properties: Object.fromEntries(fields.map((name) => [name, {}])) },
  ...more,
});
const SCRIPT = {
  required: ["synopsis", "scenes"],
  properties: { synopsis: {}, scenes: list(["heading", "action", "dialogue"], { maxItems: 12 }) },
};
const PROMPT = "Write.\n\nCharacters: Mara, Jon\n\nText:\nMara waits. Jon rows. They meet at dusk.";

Deno.test("a script is cut from the text, with those who are named in it", () => {
  // deno-lint-ignore no-explicit-any
  const script = storyFor(SCRIPT, PROMPT, chanceFrom("x")) as any;
  assert.deepEqual(script.scenes.map(({ action }: { action: string }) => action), [
    "Mara waits.",
    "Jon rows.",
    "They meet at dusk.",
  ]);
  assert.equal(script.scenes[0].dialogue[0].character, "Mara");
  assert.deepEqual(storyFor(SCRIPT, PROMPT, chanceFrom("x")), script);
});

Deno.test("a cast has everybody who was asked for", () => {
  const schema = { properties: { characters: list(["name", "looks"]) } };
  const cast = storyFor(schema, "Answer for all of these: Mara, Jon", chanceFrom("x"));
  assert.deepEqual(
    (cast as { characters: { name: string }[] }).characters.map(({ name }) => name),
    ["Mara", "Jon"],
  );
});

Deno.test("any other schema is none of a story's business", () => {
  assert.equal(storyFor({ properties: { name: {} } }, PROMPT, chanceFrom("x")), null);
  assert.equal(storyFor({ ...SCRIPT, required: ["genre"] }, PROMPT, chanceFrom("x")), null);
  assert.equal(storyFor(true, PROMPT, chanceFrom("x")), null);
});
