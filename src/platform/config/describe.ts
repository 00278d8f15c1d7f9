import { USAGE_KINDS } from "../../model_types/usage.ts";
import type { AccountPlan, Config, Model, Price, Provider } from "./config.ts";
import {
  GATEWAY_SCHEMA,
  resolveSetting,
  SCHEMAS,
  settingAt,
  type SettingSchema,
} from "./schema.ts";
import { camelCase } from "./settings.ts";

/**
 * A configuration as plain JSON without secrets: `/admin/v1/config` returns it, and `diffConfigs` compares
 * two. Keys are named as in gateway.yaml, and null stands for a setting that is not set.
 */
export interface Description {
  version: string;
  [section: string]: unknown;
}

export function describeConfig(config: Config): Description {
  return {
    version: config.version,
    ...describeBlock(GATEWAY_SCHEMA, {
      ...config,
      // These are compiled into other forms.
      plans: undefined,
      providers: undefined,
      models: undefined,
      routes: undefined,
    }),
    plans: mapped(config.plans, describePlan),
    providers: mapped(config.providers, describeProvider),
    models: mapped(config.models, describeModel),
    unavailable_models: Object.fromEntries(
      config.unavailableModels.map(({ model, reason }) => [model, reason]),
    ),
    prices: mapped(config.books, ({ prices }) => mapped(prices, (list) => list.map(describePrice))),
    routes: Object.fromEntries(config.routes.map((route) => {
      const { path, ...rest } = describeBlock(SCHEMAS.route, route);
      return [path, rest];
    })),
  };
}

function mapped<T>(
  entries: ReadonlyMap<string, T>,
  describe: (entry: T) => unknown,
): Record<string, unknown> {
  return Object.fromEntries([...entries].map(([id, entry]) => [id, describe(entry)]));
}

/** The keys that the schema names, except those that are never shown. */
function describeBlock(schema: SettingSchema, block: object): Record<string, unknown> {
  const values = new Map(Object.entries(block));
  return Object.fromEntries(
    Object.keys(schema.properties ?? {}).flatMap((key) => {
      const setting = settingAt(schema, key)!;
      // Limits of models and costs are compiled under the names of the file.
      const name = values.has(key) ? key : camelCase(key);
      const value = values.get(name);
      const isHidden = setting.writeOnly === true && setting.format !== "uri";
      return value === undefined || isHidden ? [] : [[key, describeValue(setting, value)]];
    }),
  );
}

function describeValue(schema: SettingSchema, value: unknown): unknown {
  const items = () => schema.items === undefined ? {} : resolveSetting(schema.items);
  if (typeof value === "string") return schema.writeOnly ? withoutCredentials(value) : value;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Set) return [...value];
  if (value instanceof Map) return mapped(value, (item) => withoutId(describeValue(items(), item)));
  if (Array.isArray(value)) return value.map((item) => describeValue(items(), item));
  if (schema.properties !== undefined) return describeBlock(schema, value);
  const entry = settingAt(schema, "") ?? {};
  // Of secrets by name, only the names are shown.
  if (entry.writeOnly === true) return Object.keys(value);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, describeValue(entry, inner)]),
  );
}

/** A URL may contain a user name and a password, or a key in its query. */
function withoutCredentials(url: string): string {
  if (!/[@?]/.test(url)) return url;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

function withoutId(described: unknown): unknown {
  const { id: _, ...rest } = described as Record<string, unknown>;
  return rest;
}

function describePlan(plan: AccountPlan): Record<string, unknown> {
  return {
    ...describeBlock(SCHEMAS.plan, plan),
    limits: describeBlock(SCHEMAS.rates, plan.rates),
    quotas: describeQuotas(plan),
  };
}

/** A quota as the file has it. */
export type DescribedQuota = number | { readonly amount: number; readonly models: string[] };

export function describeQuotas(
  { quotas, quotaModels }: Pick<AccountPlan, "quotas" | "quotaModels">,
): Record<string, DescribedQuota> {
  return Object.fromEntries(USAGE_KINDS.map((kind) => {
    const [amount, models] = [quotas[kind], quotaModels[kind]];
    return [kind, models === undefined ? amount : { amount, models: [...models] }];
  }));
}

function describeProvider(provider: Provider): Record<string, unknown> {
  return {
    ...describeBlock(SCHEMAS.provider, provider),
    has_key: provider.apiKey !== null && provider.apiKey !== "",
    on: provider.on,
  };
}

function describeModel(model: Model): unknown {
  return withoutId({
    ...describeBlock(SCHEMAS.model, model),
    visible_to: model.visibleTo ?? "everyone",
  });
}

function describePrice(price: Price): Record<string, unknown> {
  return {
    book: price.book,
    billing_type: price.billingType,
    unit: price.unit,
    ...price.terms,
    effective_at: new Date(price.effectiveAt).toISOString(),
  };
}
