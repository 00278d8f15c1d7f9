import Ajv2020 from "ajv/dist/2020.js";
import type { Character, DramaJob, Roles, Script } from "./drama.ts";

type Schema = Readonly<Record<string, unknown>>;

/** What the script stage must answer with. */
export function scriptSchema(shotsMin: number, shotsMax: number): Schema {
  return {
    type: "object",
    additionalProperties: false,
    required: ["synopsis", "scenes"],
    properties: {
      synopsis: { type: "string", description: "The story in one or two sentences." },
      scenes: {
        type: "array",
        description: "In order; each is one shot.",
        minItems: shotsMin,
        maxItems: shotsMax,
        items: {
          type: "object",
          additionalProperties: false,
          required: ["heading", "action", "dialogue"],
          properties: {
            heading: { type: "string", description: "Place and time." },
            action: { type: "string", description: "What is seen." },
            dialogue: {
              type: "array",
              maxItems: 12,
              items: {
                type: "object",
                additionalProperties: false,
                required: ["character", "line"],
                properties: { character: { type: "string" }, line: { type: "string" } },
              },
            },
          },
        },
      },
    },
  };
}

/** What the roles stage must answer with. */
export const ROLES_SCHEMA: Schema = {
  type: "object",
  additionalProperties: false,
  required: ["characters"],
  properties: {
    characters: {
      type: "array",
      maxItems: 100,
      items: {
        type: "object",
        additionalProperties: false,
        required: ["name", "looks"],
        properties: {
          name: { type: "string" },
          looks: { type: "string", description: "Age, build, face, hair, clothes." },
        },
      },
    },
  },
};

/** What a text stage of a drama must answer with, the operator's wishes included. */
export function stageSchema(
  { chain, shots_max }: Pick<DramaJob, "chain" | "shots_max">,
  stage: "script" | "roles",
): Schema {
  return stage === "script"
    ? withOwn(scriptSchema(chain.shotsMin, shots_max), chain.script.schema)
    : withOwn(ROLES_SCHEMA, chain.roles!.schema);
}

/** An operator's schema beside ours: theirs may ask for further fields of the whole. */
export function withOwn(schema: Schema, own: Schema | null): Schema {
  if (own === null) return schema;
  const fields = (value: unknown) => (value ?? {}) as Record<string, unknown>;
  const required = (value: unknown) => Array.isArray(value) ? value as string[] : [];
  return {
    ...schema,
    properties: { ...fields(own.properties), ...fields(schema.properties) },
    required: [...new Set([...required(schema.required), ...required(own.required)])],
    ...(own.$defs === undefined ? {} : { $defs: own.$defs }),
  };
}

/**
 * Reads a text that should be JSON; null where it is not, or not what was asked. Models without a mode
 * for JSON put a fence around it, or a word before it.
 */
export function readAnswer<T extends Script | Roles>(text: string, schema: Schema): T | null {
  const from = text.indexOf("{");
  const to = text.lastIndexOf("}");
  if (from < 0 || to < from) return null;
  let value: unknown;
  try {
    value = JSON.parse(text.slice(from, to + 1));
  } catch {
    return null;
  }
  // Compiled for one answer: it is asked a few times per drama, and each has its own number of shots.
  const isFitting = new Ajv2020.default({ strict: false, logger: false }).compile(schema);
  return isFitting(value) ? value as T : null;
}

/** Every character of the request has a role, whatever the model left out, and once only. */
export function completeRoles(roles: Roles, characters: readonly Character[]): Roles {
  const known = new Map<string, { name: string; looks: string }>();
  for (const role of roles.characters) {
    if (!known.has(nameKey(role.name))) known.set(nameKey(role.name), role);
  }
  for (const { name } of characters) {
    if (!known.has(nameKey(name))) known.set(nameKey(name), { name, looks: "" });
  }
  return { ...roles, characters: [...known.values()] };
}

/** Names are the same whatever their case and spaces. */
export function nameKey(name: string): string {
  return name.trim().toLowerCase().replace(/\s+/g, " ");
}
