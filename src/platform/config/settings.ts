import { resolveSetting, settingAt, type SettingSchema } from "./schema.ts";

/** `base_url` as `baseUrl`. */
type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** A part of the configuration file as code reads it: names in camelCase, and null where nothing is set. */
export type SettingsOf<Part> = Part extends readonly (infer Item)[] ? readonly SettingsOf<Item>[]
  : Part extends object ? {
      readonly [Key in keyof Part as CamelCase<Key>]-?:
        | SettingsOf<Exclude<Part[Key], undefined>>
        | (undefined extends Part[Key] ? null : never);
    }
  : Part;

/** Renames the keys that the schema names. Keys that the operator chose, such as names of headers, stay. */
export function toSettings<Part>(schema: SettingSchema, part: Part): SettingsOf<Part> {
  return convert(schema, part) as SettingsOf<Part>;
}

function convert(schema: SettingSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = schema.items === undefined ? {} : resolveSetting(schema.items);
    return value.map((item) => convert(items, item));
  }
  if (typeof value !== "object" || value === null) return value;
  const block = value as Readonly<Record<string, unknown>>;
  const { properties } = schema;
  if (properties !== undefined) {
    return Object.fromEntries(
      Object.keys(properties).map((key) => [
        camelCase(key),
        convert(settingAt(schema, key)!, block[key] ?? null),
      ]),
    );
  }
  return Object.fromEntries(
    Object.entries(block).map((
      [key, inner],
    ) => [key, convert(settingAt(schema, key) ?? {}, inner)]),
  );
}

export function camelCase(name: string): string {
  return name.replaceAll(/_(.)/g, (_, next: string) => next.toUpperCase());
}
