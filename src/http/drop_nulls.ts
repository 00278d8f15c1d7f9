import type { AnySchemaObject } from "ajv/dist/2020.js";

/**
 * OpenAI's API takes null for almost every optional field, and clients in many languages send one for each
 * that is not set. Schemas here are written without those nulls: a body that has some is put right before it
 * is looked at again, and what is published says that they are welcome.
 */

/** Removes, in place, nulls that stand for an optional field that is not given. */
export function dropNulls(schema: AnySchemaObject, value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items !== undefined) value.forEach((item) => dropNulls(items, item));
    return;
  }
  const fields = value as Record<string, unknown>;
  for (const [name, property] of propertiesOf(schema)) {
    if (!Object.hasOwn(fields, name)) continue;
    if (fields[name] !== null) dropNulls(property, fields[name]);
    else if (isOptional(schema, name) && !takesNull(property)) delete fields[name];
  }
}

/** The schema as it is published: with the nulls that `dropNulls` removes. */
export function allowNulls(schema: AnySchemaObject): AnySchemaObject {
  const copy = { ...schema };
  if (schema.items !== undefined) copy.items = allowNulls(schema.items);
  if (schema.properties !== undefined) {
    copy.properties = Object.fromEntries(
      propertiesOf(schema).map(([name, property]) => {
        const inner = allowNulls(property);
        return [name, isOptional(schema, name) ? orNull(inner) : inner];
      }),
    );
  }
  return copy;
}

function orNull(schema: AnySchemaObject): AnySchemaObject {
  if (takesNull(schema)) return schema;
  const { type, enum: values } = schema;
  return {
    ...schema,
    ...(type === undefined ? {} : { type: [type, "null"].flat() }),
    ...(values === undefined ? {} : { enum: [...values, null] }),
  };
}

function takesNull({ type, enum: values }: AnySchemaObject): boolean {
  if (values !== undefined) return values.includes(null);
  return type === undefined || [type].flat().includes("null");
}

function isOptional({ required }: AnySchemaObject, name: string): boolean {
  return required === undefined || !required.includes(name);
}

function propertiesOf({ properties }: AnySchemaObject): [string, AnySchemaObject][] {
  return Object.entries(properties ?? {});
}
