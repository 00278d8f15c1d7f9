import type { Description } from "../../src/platform/config/describe.ts";
import {
  GATEWAY_SCHEMA,
  resolveSetting,
  settingAt,
  type SettingSchema,
} from "../../src/platform/config/schema.ts";

type Keys = Record<string, unknown>;

/** What the description of a provider and a model adds to the settings, where nothing is unusual. */
const USUAL: Readonly<Keys> = { has_key: false, on: true, visible_to: "everyone" };

/** The part of a description that differs from the defaults of the schema: a new setting does not change it. */
export function changedSettings(description: Description, standardRoutes: unknown): Keys {
  const { plans, routes, ...rest } = description;
  const rates = (rest.limits as Keys).default as Keys;
  return changedKeys(GATEWAY_SCHEMA, {
    ...rest,
    plans: Object.fromEntries(
      Object.entries(plans as Record<string, Keys>).map(([id, plan]) => [id, {
        ...plan,
        name: plan.name === id ? null : plan.name,
        limits: withoutEqual(plan.limits as Keys, rates),
      }]).filter(([id, plan]) =>
        id !== "free" || Object.keys(changedKeys(planSchema(), plan as Keys)).length > 0
      ),
    ),
    routes: isEqual(routes, standardRoutes) ? null : routes,
  });
}

function planSchema(): SettingSchema {
  return resolveSetting({ $ref: "#/$defs/plan" });
}

function changedKeys(schema: SettingSchema, block: Keys): Keys {
  return Object.fromEntries(
    Object.entries(block).flatMap(([key, value]) => {
      const setting = settingAt(schema, key) ?? {};
      const isDefault = isEqual(value, setting.default) || isEqual(value, USUAL[key]);
      if (value === null || isDefault) return [];
      const changed = changedValue(setting, value);
      const isNamed = typeof schema.additionalProperties === "object";
      return isEmpty(changed) && !isNamed ? [] : [[key, changed]];
    }),
  );
}

function changedValue(schema: SettingSchema, value: unknown): unknown {
  const items = schema.items === undefined ? {} : resolveSetting(schema.items);
  if (Array.isArray(value)) return value.map((item) => changedValue(items, item));
  if (typeof value !== "object" || value === null) return value;
  // A description shows some lists as blocks: models by id, routes by path.
  const isKeyedList = schema.items !== undefined;
  return changedKeys(isKeyedList ? { additionalProperties: items } : schema, value as Keys);
}

function withoutEqual(block: Keys, other: Keys): Keys {
  return Object.fromEntries(Object.entries(block).filter(([key, value]) => value !== other[key]));
}

function isEqual(value: unknown, other: unknown): boolean {
  return JSON.stringify(value) === JSON.stringify(other);
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
