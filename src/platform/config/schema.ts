import gateway from "../../../schemas/gateway.schema.json" with { type: "json" };

/** The parts of schemas/gateway.schema.json that the gateway and the reference page read. */
export interface SettingSchema {
  $ref?: string;
  $defs?: Readonly<Record<string, SettingSchema>>;
  description?: string;
  /** Of several, the first is that of one value and the second a list of them. */
  type?: string | readonly string[];
  enum?: readonly string[];
  format?: string;
  default?: unknown;
  /** Allowed values in words: an annotation of ours. */
  expected?: string;
  /** An annotation of ours: the file must refer to an environment variable. */
  secret?: true;
  /** The value is not shown again; of a URL, its user name, password and query are not. */
  writeOnly?: true;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  required?: readonly string[];
  properties?: Readonly<Record<string, SettingSchema>>;
  additionalProperties?: boolean | SettingSchema;
  items?: SettingSchema;
}

/** The one source of settings: their names, types, bounds, defaults and descriptions. */
export const GATEWAY_SCHEMA: SettingSchema = gateway as unknown as SettingSchema;

/** The schemas of entries that have a compiled form of their own. */
export const SCHEMAS = gateway.$defs as unknown as Readonly<
  Record<keyof typeof gateway.$defs, SettingSchema>
>;

/** Follows a reference; keys beside it, such as a description or a default, replace those of its target. */
export function resolveSetting(schema: SettingSchema, root = GATEWAY_SCHEMA): SettingSchema {
  if (schema.$ref === undefined) return schema;
  let target: unknown = root;
  for (const key of schema.$ref.split("/").slice(1)) {
    target = (target as Record<string, unknown> | undefined)?.[key];
  }
  if (target === undefined) throw new Error(`The schema has no ${schema.$ref}`);
  const { $ref: _, ...own } = schema;
  return { ...resolveSetting(target as SettingSchema, root), ...own };
}

/** The schema of a key; undefined for a key that the schema does not name. */
export function settingAt(schema: SettingSchema, key: string): SettingSchema | undefined {
  const { properties = {}, additionalProperties } = schema;
  if (Object.hasOwn(properties, key)) return resolveSetting(properties[key]!);
  return typeof additionalProperties === "object"
    ? resolveSetting(additionalProperties)
    : undefined;
}

/** Whether a block is complete when the file leaves it out, because none of its keys is required. */
export function isOptionalBlock({ properties, required, minProperties }: SettingSchema): boolean {
  return properties !== undefined && required === undefined && minProperties === undefined;
}

/** The names of all keys that hold a secret. */
export function secretKeys(): readonly string[] {
  return [GATEWAY_SCHEMA, ...Object.values(SCHEMAS)].flatMap(namesOfSecrets);
}

function namesOfSecrets(schema: SettingSchema): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, inner]) =>
    resolveSetting(inner).secret === true ? [key] : namesOfSecrets(inner)
  );
}
