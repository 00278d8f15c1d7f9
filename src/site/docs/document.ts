/** The part of an OpenAPI document that the reference shows. */
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, DocumentedResponse>;
  };
}

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  deprecated?: boolean;
  "x-stage"?: "released" | "preview" | "planned";
  parameters?: Parameter[];
  security: readonly Readonly<Record<string, readonly string[]>>[];
  requestBody?: { content: Record<string, { schema?: Schema; example?: unknown }> };
  responses: Record<string, DocumentedResponse>;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: string | number;
}

interface DocumentedResponse {
  $ref?: string;
  description?: string;
  content?: Record<string, { schema?: Schema }>;
}

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  default?: unknown;
  examples?: unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  additionalProperties?: boolean | Schema;
}

/** One operation of the API, as the reference lists it. */
export interface DocumentedCall extends Operation {
  method: string;
  path: string;
}

export interface Group {
  title: string;
  calls: DocumentedCall[];
}

/** What an admin token needs for an operation; empty for those of clients. */
export function scopesOf({ security }: DocumentedCall): string[] {
  return security.flatMap((each) => Object.values(each).flat());
}

/** All operations, grouped by topic. */
export function groupsOf(document: OpenApi): Group[] {
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): DocumentedCall => ({
      ...operation,
      method,
      path,
    }))
  );
  return [...Map.groupBy(calls, ({ tags }) => tags[0] ?? "")]
    .map(([title, calls]) => ({ title, calls }));
}

/** Follows `$ref` to the schema it names; a schema without one is returned as it is. */
export function resolve(document: OpenApi, schema: Schema): Schema {
  let found = schema;
  for (let hops = 0; found.$ref !== undefined && hops < 10; hops++) {
    const name = found.$ref.split("/").at(-1)!;
    const { $ref: _, ...own } = found;
    found = { ...document.components.schemas[name], ...own };
  }
  return found;
}

/** A short description of a schema's type: `integer, 1 to 10`, `array of string`, `"mp3" | "wav"`. */
export function describeType(document: OpenApi, schema: Schema, depth = 0): string {
  const { type, enum: values, const: constant, anyOf, oneOf, items, ...rest } = resolve(
    document,
    schema,
  );
  if (constant !== undefined) return JSON.stringify(constant);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(" | ");
  const choices = anyOf ?? oneOf;
  if (choices !== undefined && depth < 3) {
    const kinds = choices.map((choice) => describeType(document, choice, depth + 1));
    return [...new Set(kinds)].join(" or ");
  }
  const types = (Array.isArray(type) ? type : [type ?? "any"]).map((each) =>
    each === "array" && items !== undefined && depth < 3
      ? `array of ${describeType(document, items, depth + 1)}`
      : each
  );
  return types.join(" or ") + boundsOf(rest);
}

function boundsOf({ minimum, maximum, maxLength, maxItems }: Schema): string {
  if (minimum !== undefined && maximum !== undefined) return `, ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `, at least ${minimum}`;
  if (maximum !== undefined) return `, at most ${maximum}`;
  if (maxLength !== undefined) return `, at most ${maxLength} characters`;
  if (maxItems !== undefined) return `, at most ${maxItems}`;
  return "";
}

export interface DocumentedField {
  name: string;
  type: string;
  required: boolean;
  description: string | undefined;
  fallback: string | undefined;
  /** The fields of an object, or of the objects in a list. */
  fields: DocumentedField[];
}

const DEPTH_MAX = 3;

/** The fields of an object, or of the objects in a list. */
export function fieldsOf(document: OpenApi, schema: Schema, depth = 0): DocumentedField[] {
  const whole = resolve(document, schema);
  const inside = [whole.type].flat().includes("array") && whole.items !== undefined
    ? resolve(document, whole.items)
    : whole;
  const fields = new Map<string, DocumentedField>();
  for (const { properties = {}, required = [] } of partsOf(document, inside)) {
    for (const [name, property] of Object.entries(properties)) {
      const own = resolve(document, property);
      fields.set(name, {
        name,
        type: describeType(document, property),
        required: required.includes(name),
        description: own.description,
        fallback: own.default === undefined ? undefined : JSON.stringify(own.default),
        fields: depth < DEPTH_MAX ? fieldsOf(document, property, depth + 1) : [],
      });
    }
  }
  return [...fields.values()];
}

/** A schema that extends others, after those. */
function partsOf(document: OpenApi, schema: Schema): Schema[] {
  const extended = schema.allOf ?? [];
  return [...extended.flatMap((part) => partsOf(document, resolve(document, part))), schema];
}
