import { createHash } from "node:crypto";
import { withoutTrailing } from "../../lib/without_trailing.ts";
import { modelsOfPipeline } from "./compile_pipeline.ts";
import { compileBooks, firstPriceOf } from "./compile_prices.ts";
import { compileModel, type ModelContext } from "./compile_models.ts";
import { compileSignIn } from "./compile_sign_in.ts";
import type {
  GatewayFile,
  ModelEntry,
  PlanEntry,
  ProviderEntry,
  RouteEntry,
} from "./gateway_file.ts";
import type { BuildCapabilities } from "./checker.ts";
import { crossCheck } from "./cross_check.ts";
import { ConfigError, type ConfigIssue, sortIssues } from "./issues.ts";
import { configForTasks } from "./config_for_tasks.ts";
import { freeze } from "./freeze.ts";
import { type Environment, loadYaml } from "../../lib/yaml/load_yaml.ts";
import { noticeOf } from "./notice.ts";
import { type OwnAdapters, readOwnAdapters } from "./own_adapters.ts";
import { OwnFiles } from "./own_files.ts";
import { type OwnRequests, readOwnRequests } from "./own_requests.ts";
import type { AccountPlan, Config, Provider, Rates, Route } from "./config.ts";
import { withDefaults } from "./defaults.ts";
import { GATEWAY_SCHEMA, SCHEMAS } from "./schema.ts";
import { type SettingsOf, toSettings } from "./settings.ts";
import { definitionOf } from "../../model_types/model_types.ts";
import { USAGE_KINDS, type UsageKind } from "../../model_types/usage.ts";
import { validateSchema } from "./validate.ts";

export interface CompileOptions {
  file: string;
  source: string;
  environment: Environment;
  capabilities: BuildCapabilities;
  now: number;
  /**
   * Texts of files next to it, for a stored configuration. It is compiled for tasks only: a provider whose
   * environment variable is no longer set is disabled, and sections that tasks do not read are left out.
   */
  stored?: ReadonlyMap<string, string>;
  /** Texts of files next to it, for a configuration that is not on this disk. */
  sent?: ReadonlyMap<string, string>;
}

/** The result of a compilation: a configuration, or null and at least one error. Both may have warnings. */
export interface CompiledConfig {
  config: Config | null;
  issues: ConfigIssue[];
  /** Texts of the files next to it, by the name that the configuration file has for each. */
  files: ReadonlyMap<string, string>;
  /** Paths of all files that it read or tried to read besides the configuration file. */
  watched: readonly string[];
}

/** load → validate → cross-check → compile → freeze. Returns all issues at once. */
export function compileConfig(options: CompileOptions): CompiledConfig {
  const { stored } = options;
  const read = loadYaml(options.file, options.source, options.environment);
  const loaded = stored === undefined ? read : configForTasks(read);
  if (loaded.value === undefined) {
    const watched = [...loaded.secretFiles];
    return { config: null, issues: sortIssues(loaded.issues), files: new Map(), watched };
  }
  const { file, issues: schemaIssues } = validateSchema(loaded);
  const files = new OwnFiles(loaded.file, stored ?? options.sent);
  const adapters = readOwnAdapters(loaded, options.capabilities, files);
  const requests = readOwnRequests(loaded, options.capabilities, files);
  const before = [...loaded.issues, ...schemaIssues, ...adapters.issues, ...requests.issues];
  const issues = sortIssues([
    ...before,
    ...crossCheck(loaded, adapters.capabilities, before, options.now),
  ]);
  const found = { issues, files: files.texts, watched: [...files.paths, ...loaded.secretFiles] };
  if (file === null || issues.some((issue) => issue.severity === "error")) {
    return { config: null, ...found };
  }
  const version = versionOf(loaded.written, [...adapters.versions, ...requests.versions]);
  return { config: freeze(assemble(file, version, { adapters, requests })), ...found };
}

/** The same for callers that cannot continue without a configuration. */
export function compileOrThrow(
  options: CompileOptions,
): Pick<CompiledConfig, "files" | "watched"> & { config: Config; warnings: ConfigIssue[] } {
  const { config, issues, files, watched } = compileConfig(options);
  if (config === null) throw new ConfigError(options.file, options.source, issues);
  return { config, warnings: issues, files, watched };
}

/** A hash of the file's content. Comments, key order and values of environment variables do not change it. */
function versionOf(written: unknown, ownFiles: readonly string[]): string {
  const sorted = JSON.stringify(
    ownFiles.length === 0 ? written : [written, ownFiles],
    (_key, value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))
        : value,
  );
  return createHash("sha256").update(sorted).digest("hex").slice(0, 12);
}

/** What the files next to gateway.yaml add to it. */
interface Own {
  adapters: OwnAdapters;
  requests: OwnRequests;
}

function assemble(file: GatewayFile, version: string, own: Own): Config {
  const { plans, providers: entries, models, prices, routes, ...sections } = file;
  const { storage, site, ...settings } = settingsOf(sections);
  const providers = new Map(
    Object.entries(entries).map(([id, provider]) => [id, providerOf(id, provider, own.adapters)]),
  );
  const books = compileBooks(prices);
  return {
    ...settings,
    version,
    storage: {
      ...storage,
      s3: storage.s3 &&
        { ...storage.s3, endpoint: withoutTrailing(storage.s3.endpoint, "/") },
    },
    site: {
      ...site,
      url: site.url && withoutTrailing(site.url, "/"),
      welcomeCredit: nullIfZero(site.welcomeCredit),
      signIn: compileSignIn(site.signIn),
    },
    plans: new Map(
      Object.entries({ free: withDefaults(SCHEMAS.plan, {}) as PlanEntry, ...plans })
        .map(([id, plan]) => [id, planOf(id, plan, settings.limits.default)]),
    ),
    providers,
    ...modelsOf(models, {
      providers,
      entries: new Map(models.map((model) => [model.id, model])),
      owner: settings.service.name,
      pricedSince: (id) => firstPriceOf(books, id),
    }),
    books,
    routes: (routes ?? own.adapters.capabilities.standardRoutes).map((route) =>
      routeOf(route, own.requests)
    ),
  };
}

/** The sections that consist of settings only. */
function settingsOf<Sections extends object>(sections: Sections): SettingsOf<Sections> {
  const properties = Object.fromEntries(
    Object.keys(sections).map((name) => [name, GATEWAY_SCHEMA.properties![name]!]),
  );
  return toSettings({ properties }, sections);
}

/** Models with an enabled provider, and those without. */
function modelsOf(
  models: readonly ModelEntry[],
  context: ModelContext,
): Pick<Config, "models" | "aliases" | "unavailableModels"> {
  const compiled = models.map((model) => compileModel(model, context));
  const offered = new Set(
    compiled.filter(({ upstreams }) => upstreams.length > 0).map(({ id }) => id),
  );
  const missing = new Map(models.map((model) => [model.id, missingFor(model, offered)]));
  return {
    models: new Map(
      compiled.filter(({ id }) => missing.get(id)!.length === 0).map((model) => [model.id, model]),
    ),
    aliases: new Map(models.flatMap(({ id, aliases }) => aliases.map((alias) => [alias, id]))),
    unavailableModels: [...missing].filter(([, ids]) => ids.length > 0)
      .map(([model, ids]) => ({ model, reason: `disabled: ${ids.join(", ")}` })),
  };
}

/** The disabled providers of a model that has no other; for a drama, the unavailable models of its pipeline. */
function missingFor(model: ModelEntry, offered: ReadonlySet<string>): string[] {
  if (model.chain !== undefined) {
    return [...new Set(modelsOfPipeline(model.chain).map((use) => use.model))]
      .filter((id) => !offered.has(id));
  }
  if (offered.has(model.id)) return [];
  return [...new Set((model.upstreams ?? []).map(({ provider }) => provider))];
}

function nullIfZero(amount: string | null): string | null {
  return amount === null || /^[0.]*$/.test(amount) ? null : amount;
}

function planOf(id: string, plan: PlanEntry, rates: Rates): AccountPlan {
  const { limits, quotas, ...settings } = toSettings(SCHEMAS.plan, plan);
  const own = Object.entries(limits).filter(([, limit]) => limit !== null);
  return {
    ...settings,
    id,
    name: settings.name ?? id,
    rates: { ...rates, ...Object.fromEntries(own) },
    ...quotasOf(quotas),
  };
}

function quotasOf(
  settings: SettingsOf<PlanEntry>["quotas"],
): Pick<AccountPlan, "quotas" | "quotaModels"> {
  const quotas = { text: 0, image: 0, video: 0 };
  const quotaModels: { [kind in UsageKind]?: ReadonlySet<string> } = {};
  for (const kind of USAGE_KINDS) {
    const quota = settings[kind];
    quotas[kind] = typeof quota === "number" ? quota : quota.amount;
    if (typeof quota !== "number") quotaModels[kind] = new Set(quota.models);
  }
  return { quotas, quotaModels };
}

function providerOf(id: string, provider: ProviderEntry, own: OwnAdapters): Provider {
  return {
    ...toSettings(SCHEMAS.provider, provider),
    id,
    adapter: own.nameOf(provider.adapter),
    on: provider.api_key !== "",
  };
}

function routeOf(route: RouteEntry, requests: OwnRequests): Route {
  const own = requests.schemas.get(route.request ?? "");
  const builtIn = route.operation === "generation" ? definitionOf(route.type!).request.name : null;
  return {
    ...toSettings(SCHEMAS.route, route),
    request: own?.version ?? route.request ?? builtIn,
    requestSchema: own?.schema ?? null,
    notice: route.deprecated_at === undefined
      ? null
      : noticeOf(route.deprecated_at, route.sunset_at),
  };
}
