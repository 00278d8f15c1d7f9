import type { SeededRandom } from "./random.ts";
import { isJsonObject, type JsonObject } from "./fields.ts";

const PLACES = [
  "Outside, early morning",
  "Inside, at noon",
  "On the road, at dusk",
  "By a window, at night",
];
const LINES = [
  "I knew you would come.",
  "Tell me what happened.",
  "There is still time.",
  "You should not be here.",
  "Then let us begin.",
  "I have waited long enough.",
];
const LOOKS = [
  "about thirty, dark curls, a grey wool coat",
  "around sixty, white beard, a fisherman's jumper",
  "in the twenties, freckles, a yellow raincoat",
  "tall and thin, glasses, a black suit",
  "broad shoulders, short hair, a blue overall",
];
const SCENES_DEFAULT = 3;

/**
 * A script or a cast for a drama, made from sentences and names of the prompt, where the schema asks for
 * one. Null for any other schema, and for one with further required fields.
 */
export function screenplayFor(schema: unknown, prompt: string, random: SeededRandom): unknown {
  const { scenes, characters } = fieldsOf(schema);
  const names = namesIn(prompt);
  if (
    asksFor(schema, ["synopsis", "scenes"]) &&
    asksFor(itemsOf(scenes), ["heading", "action", "dialogue"])
  ) {
    return script(prompt, names, sceneCount(scenes), random);
  }
  if (asksFor(schema, ["characters"]) && asksFor(itemsOf(characters), ["name", "looks"])) {
    const all = names.length > 0 ? names : ["The stranger"];
    return { characters: all.map((name) => ({ name, looks: random.pick(LOOKS) })) };
  }
  return null;
}

function script(
  prompt: string,
  names: readonly string[],
  count: number,
  random: SeededRandom,
): unknown {
  const [, text = prompt] = prompt.split(/\bText:\n/);
  const sentences = text.split(/(?<=[.!?。！？])\s*|\n+/).map((one) => one.trim())
    .filter((one) => one !== "");
  return {
    synopsis: sentences[0]?.slice(0, 300) ?? "A story.",
    scenes: Array.from({ length: count }, (_, at) => {
      const from = Math.floor(at * sentences.length / count);
      const to = Math.max(from + 1, Math.floor((at + 1) * sentences.length / count));
      const action = sentences.slice(from, to).join(" ").slice(0, 600) || "Silence.";
      const speakers = names.filter((name) => action.includes(name));
      const cast = speakers.length > 0 ? speakers : names;
      return {
        heading: PLACES[at % PLACES.length],
        action,
        dialogue: cast.slice(0, 2).map((character) => ({ character, line: random.pick(LINES) })),
      };
    }),
  };
}

/** The names that a prompt lists after "Characters:" or "for all of these:". */
function namesIn(prompt: string): string[] {
  const [, after = ""] = prompt.split(/^Characters:|for all of these:/m);
  const [list = ""] = after.trimStart().split("\n");
  return /^as the text/.test(list) ? [] : list.split(",").map((name) => name.trim())
    .filter((name) => name !== "");
}

function sceneCount(scenes: unknown): number {
  const { minItems = 1, maxItems = SCENES_DEFAULT } =
    (isJsonObject(scenes) ? scenes : {}) as JsonObject;
  return Math.max(Number(minItems), Math.min(Number(maxItems), SCENES_DEFAULT));
}

/** Whether an object with just these fields would do. */
function asksFor(schema: unknown, fields: readonly string[]): boolean {
  const known = fieldsOf(schema);
  const required = isJsonObject(schema) && Array.isArray(schema.required) ? schema.required : [];
  return fields.every((field) => field in known) &&
    required.every((field) => fields.includes(field));
}

function fieldsOf(schema: unknown): JsonObject {
  return isJsonObject(schema) && isJsonObject(schema.properties) ? schema.properties : {};
}

function itemsOf(list: unknown): unknown {
  return isJsonObject(list) ? list.items : undefined;
}
