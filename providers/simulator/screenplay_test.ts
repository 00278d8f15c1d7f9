import assert from "node:assert/strict";
import { seededRandom } from "./random.ts";
import { screenplayFor } from "./screenplay.ts";

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

Deno.test("a script is made from sentences and names of the text", () => {
  // deno-lint-ignore no-explicit-any
  const script = screenplayFor(SCRIPT, PROMPT, seededRandom("x")) as any;
  assert.deepEqual(script.scenes.map(({ action }: { action: string }) => action), [
    "Mara waits.",
    "Jon rows.",
    "They meet at dusk.",
  ]);
  assert.equal(script.scenes[0].dialogue[0].character, "Mara");
  assert.deepEqual(screenplayFor(SCRIPT, PROMPT, seededRandom("x")), script);
});

Deno.test("a cast has all requested characters", () => {
  const schema = { properties: { characters: list(["name", "looks"]) } };
  const cast = screenplayFor(schema, "Answer for all of these: Mara, Jon", seededRandom("x"));
  assert.deepEqual(
    (cast as { characters: { name: string }[] }).characters.map(({ name }) => name),
    ["Mara", "Jon"],
  );
});

Deno.test("any other schema gets no screenplay", () => {
  assert.equal(screenplayFor({ properties: { name: {} } }, PROMPT, seededRandom("x")), null);
  assert.equal(screenplayFor({ ...SCRIPT, required: ["genre"] }, PROMPT, seededRandom("x")), null);
  assert.equal(screenplayFor(true, PROMPT, seededRandom("x")), null);
});
