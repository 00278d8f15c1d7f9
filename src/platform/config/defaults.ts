import { isOptionalBlock, resolveSetting, settingAt, type SettingSchema } from "./schema.ts";

/** A copy of a valid file with the defaults of the schema, also inside of blocks that the file leaves out. */
export function withDefaults(schema: SettingSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = schema.items === undefined ? {} : resolveSetting(schema.items);
    return value.map((item) => withDefaults(items, item));
  }
  if (typeof value !== "object" || value === null) return value;
  const filled = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      withDefaults(settingAt(schema, key) ?? {}, inner),
    ]),
  );
  for (const key of Object.keys(schema.properties ?? {})) {
    if (Object.hasOwn(filled, key)) continue;
    const absent = settingAt(schema, key)!;
    if (absent.default !== undefined) filled[key] = structuredClone(absent.default);
    else if (isOptionalBlock(absent)) filled[key] = withDefaults(absent, {});
  }
  return filled;
}
