import api from "../../../schemas/api.schema.json" with { type: "json" };
import webhooks from "../../../schemas/webhooks.schema.json" with { type: "json" };

export type JsonSchema = Readonly<Record<string, unknown>>;

const OBJECTS = { ...api.$defs, ...webhooks.$defs };

type ObjectName = keyof typeof OBJECTS;

/** A schema of a response. `FileList` is a page of `File`. */
export type SchemaName = ObjectName | `${ObjectName}List`;

/** Schemas of all objects that responses consist of. */
export function objectSchemas(): Record<string, JsonSchema> {
  const text = JSON.stringify(OBJECTS).replaceAll("#/$defs/", "#/components/schemas/");
  return JSON.parse(text);
}

/** The schema of one page of a list. */
export function pageSchema(name: string): JsonSchema {
  const id = (description: string) => ({ type: ["string", "null"], description });
  return {
    type: "object",
    required: ["object", "data", "first_id", "last_id", "has_more"],
    properties: {
      object: { const: "list", description: "Always `list`." },
      data: {
        type: "array",
        items: { $ref: `#/components/schemas/${name}` },
        description: "The entries of the page.",
      },
      first_id: id("Id of the first entry; null on an empty page."),
      last_id: id("Id of the last entry: send it as `after` for the next page."),
      has_more: { type: "boolean", description: "Whether there is a next page." },
    },
  };
}
