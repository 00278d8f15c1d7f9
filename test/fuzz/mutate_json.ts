import type { Random } from "./random.ts";

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

const ODD: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e21,
  2 ** 53,
  "",
  " ",
  "0",
  "\u0000",
  "\uD800",
  "__proto__",
  "constructor",
  "2026-01-01T23:59:60Z",
  "0000-01-01T00:00:00Z",
  "9999-12-31T23:59:59-12:00",
  "data:image/png;base64,iVBORw0KGgo=",
  "https://127.0.0.1/x",
  "[[simulate:tokens=3]]",
  [],
  {},
  [[]],
  [null],
  { type: "object" },
];

/** Changes one to four places of a document: removed, replaced, renamed, moved, or made very long. */
export function mutateJson(random: Random, document: Json): Json {
  const root: Json = { document: structuredClone(document) };
  for (let changes = 1 + random.size(3); changes > 0; changes--) {
    const places = placesIn(root);
    const { holder, key } = random.pick(places);
    const old = holder[key]!;
    switch (random.below(7)) {
      case 0:
        if (holder !== root) delete holder[key];
        break;
      case 1:
        holder[String(random.pick(ODD))] = old;
        break;
      case 2:
        holder[key] = structuredClone(random.pick(places).holder) as Json;
        break;
      case 3:
        if (Array.isArray(old)) {
          holder[key] = Array.from(
            { length: random.size(2000) },
            () => structuredClone(old[0] ?? 0),
          );
        }
        break;
      case 4:
        if (typeof old === "string") holder[key] = longer(random, old);
        break;
      default:
        holder[key] = structuredClone(random.pick(ODD));
    }
  }
  return (root as { document?: Json }).document ?? null;
}

function longer(random: Random, text: string): string {
  const unit = random.oneIn(2)
    ? text
    : random.pick([" ", "\\", "[", "a", "?", "/", "0", "\n", "ü", "["]);
  return unit.repeat(Math.ceil(random.size(100_000) / Math.max(1, unit.length)));
}

type Holder = Record<string | number, Json>;

function placesIn(value: Json): { holder: Holder; key: string | number }[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Holder;
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => [{ holder, key }, ...placesIn(holder[key]!)]);
}
