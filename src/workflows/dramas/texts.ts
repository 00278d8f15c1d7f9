import Ajv2020 from "ajv/dist/2020.js";
import { type Character, type DramaJob, requireStage, type Roles, type Script } from "./drama.ts";

type Schema = Readonly<Record<string, unknown>>;

/** JSON Schema of the script stage's response. */
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

/** JSON Schema of the roles stage's response. */
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

/** JSON Schema of a text stage's response, with the fields that the operator's schema adds. */
export function stageSchema(
  { pipeline, shots_max }: Pick<DramaJob, "pipeline" | "shots_max">,
  stage: "script" | "roles",
): Schema {
  return stage === "script"
    ? withOwn(scriptSchema(pipeline.shotsMin, shots_max), pipeline.script.schema)
    : withOwn(ROLES_SCHEMA, requireStage(pipeline.roles, "roles").schema);
}

/** Adds the top-level fields of an operator's schema to the gateway's own. */
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
 * Parses a model's response; null where it is no JSON or does not match the schema. Models without a JSON mode
 * may put a code fence around it, or text before it.
 */
export function readAnswer<T extends Script | Roles>(text: string, schema: Schema): T | null {
  const from = text.indexOf("{");
  const to = text.lastIndexOf("}");
  if (from < 0 || to < from) return null;
  let value: unknown;
  try {
    value = JSON.parse(text.slice(from, to + 1));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  // Not cached: a drama needs it a few times, and each schema has its own number of shots.
  const isFitting = new Ajv2020.default({ strict: false, logger: false }).compile(schema);
  return isFitting(value) ? value as T : null;
}

/** Adds roles that the model left out and removes duplicates: each character of the request has one. */
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

/** Names are compared without case and extra spaces. */
export function nameKey(name: string): string {
  return name.trim().toLowerCase().replace(/\s+/g, " ");
}
