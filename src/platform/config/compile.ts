import { createHash } from "node:crypto";
import { withoutTrailing } from "../../lib/without_trailing.ts";
import { modelsOfPipeline } from "./compile_pipeline.ts";
import { compileBooks } from "./compile_prices.ts";
import { compileModel } from "./compile_models.ts";
import { compileSignIn } from "./compile_sign_in.ts";
import type {
  GatewayFile,
  ModelEntry,
  PlanEntry,
  ProviderEntry,
  RatesEntry,
  RouteEntry,
} from "./gateway_file.ts";
import type { BuildCapabilities } from "./checker.ts";
import { crossCheck } from "./cross_check.ts";
import { ConfigError, type ConfigIssue, sortIssues } from "./issues.ts";
import { configForTasks } from "./config_for_tasks.ts";
import { freeze } from "./freeze.ts";
import { type Environment, loadYaml } from "./load.ts";
import { noticeOf } from "./notice.ts";
import { type OwnAdapters, readOwnAdapters } from "./own_adapters.ts";
import type { AccountPlan, Bucket, Config, Provider, Rates, Route } from "./config.ts";
import { definitionOf } from "../../model_types/model_types.ts";
import { STANDARD_ROUTES } from "./standard_routes.ts";
import { validateSchema } from "./validate.ts";

export interface CompileOptions {
  file: string;
  source: string;
  environment: Environment;
  capabilities: BuildCapabilities;
  now: number;
  /**
   * Texts of provider files, for a stored configuration. It is compiled for tasks only: a provider whose
   * environment variable is no longer set is disabled, and sections that tasks do not read are left out.
   */
  stored?: ReadonlyMap<string, string>;
}

/** The result of a compilation: a configuration, or null and at least one error. Both may have warnings. */
export interface CompiledConfig {
  config: Config | null;
  issues: ConfigIssue[];
  /** Texts of the provider files, by the name that the configuration file has for each. */
  files: ReadonlyMap<string, string>;
}

/** load → validate → cross-check → compile → freeze. Returns all issues at once. */
export function compileConfig(options: CompileOptions): CompiledConfig {
  const { stored } = options;
  const read = loadYaml(options.file, options.source, options.environment);
  const loaded = stored === undefined ? read : configForTasks(read);
  if (loaded.value === undefined) {
    return { config: null, issues: sortIssues(loaded.issues), files: new Map() };
  }
  const { file, issues: schemaIssues } = validateSchema(loaded);
  const own = readOwnAdapters(loaded, options.capabilities, stored);
  const before = [...loaded.issues, ...schemaIssues, ...own.issues];
  const issues = sortIssues([
    ...before,
    ...crossCheck(loaded, own.capabilities, before, options.now),
  ]);
  if (file === null || issues.some((issue) => issue.severity === "error")) {
    return { config: null, issues, files: own.texts };
  }
  const version = versionOf(loaded.written, own);
  return { config: freeze(assemble(file, version, own)), issues, files: own.texts };
}

/** The same for callers that cannot continue without a configuration. */
export function compileOrThrow(
  options: CompileOptions,
): { config: Config; warnings: ConfigIssue[]; files: CompiledConfig["files"] } {
  const { config, issues, files } = compileConfig(options);
  if (config === null) throw new ConfigError(options.file, options.source, issues);
  return { config, warnings: issues, files };
}

/** A hash of the file's content. Comments, key order and values of environment variables do not change it. */
function versionOf(written: unknown, own: OwnAdapters): string {
  const sorted = JSON.stringify(
    own.names.length === 0 ? written : [written, own.names],
    (_key, value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))
        : value,
  );
  return createHash("sha256").update(sorted).digest("hex").slice(0, 12);
}

/** Descriptions show these limits only where the configuration changes them. */
export const DEFAULT_BODY_LIMITS = {
  total: 256 * 1024 ** 2,
  account: 32 * 1024 ** 2,
  values: 100_000,
};

function assemble(file: GatewayFile, version: string, own: OwnAdapters): Config {
  const providers = new Map(
    Object.entries(file.providers).map(([id, provider]) => [id, providerOf(id, provider, own)]),
  );
  return {
    version,
    files: own.files,
    service: {
      name: file.service?.name ?? "Tollgate",
      baseUrl: file.service?.base_url ?? null,
      currency: file.service?.currency ?? "USD",
      currencyScale: file.service?.currency_scale ?? 6,
      supportUrl: file.service?.support_url ?? null,
    },
    storage: storageOf(file.storage),
    requests: requestLimitsOf(file.limits),
    plans: plansOf(file),
    providers,
    ...modelsOf(file, providers),
    books: compileBooks(file.prices),
    routes: (file.routes ?? standardRoutes(own.capabilities)).map(routeOf),
    webhooks: {
      retrySeconds: file.webhooks?.retry_seconds ??
        [0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400],
      timeoutSeconds: file.webhooks?.timeout_seconds ?? 15,
      disableAfterDays: file.webhooks?.disable_after_days ?? 5,
    },
    outbound: { allowPrivate: file.outbound?.allow_private ?? false },
    site: {
      url: file.site?.url === undefined ? null : withoutTrailing(file.site.url, "/"),
      registration: file.site?.registration ?? true,
      welcomeCredit: nullIfZero(file.site?.welcome_credit),
      trustedProxies: file.site?.trusted_proxies ?? 0,
      signIn: compileSignIn(file.site?.sign_in ?? []),
    },
  };
}

function storageOf(storage: GatewayFile["storage"]): Config["storage"] {
  return {
    queue: storage?.queue ?? "kv",
    sessions: storage?.sessions ?? "kv",
    files: storage?.files ?? "local",
    s3: bucketOf(storage?.s3),
    uploads: {
      image: storage?.uploads?.image_bytes_max ?? 16 * 1024 * 1024,
      audio: storage?.uploads?.audio_bytes_max ?? 25 * 1024 * 1024,
      video: storage?.uploads?.video_bytes_max ?? 200 * 1024 * 1024,
      keepDays: storage?.uploads?.keep_days ?? 30,
    },
    outputs: {
      urlHours: storage?.outputs?.url_hours ?? 24,
      keepDays: storage?.outputs?.keep_days ?? 7,
    },
  };
}

function requestLimitsOf(limits: GatewayFile["limits"]): Config["requests"] {
  return {
    bodyBytesMax: limits?.body_bytes_max ?? 32 * 1024 * 1024,
    bodyBytesTotalMax: limits?.body_bytes_total_max ?? DEFAULT_BODY_LIMITS.total,
    bodyBytesAccountMax: limits?.body_bytes_account_max ?? DEFAULT_BODY_LIMITS.account,
    jsonDepthMax: limits?.json_depth_max ?? 64,
    jsonValuesMax: limits?.json_values_max ?? DEFAULT_BODY_LIMITS.values,
    queueSecondsMax: limits?.queue_seconds_max ?? 3600,
  };
}

function plansOf(file: GatewayFile): Config["plans"] {
  const rates = ratesOf(file.limits?.default, {
    requestsPerMinute: 600,
    tokensPerMinute: 1_000_000,
    runningTasks: 20,
    storageBytes: 10 * 1024 ** 3,
  });
  return new Map(
    Object.entries({ free: {}, ...file.plans }).map(([id, plan]) => [id, planOf(id, plan, rates)]),
  );
}

/** Models with an enabled provider, and those without. */
function modelsOf(
  file: GatewayFile,
  providers: Config["providers"],
): Pick<Config, "models" | "unavailableModels"> {
  const entries = new Map(file.models.map((model) => [model.id, model]));
  const compiled = file.models.map((model) => compileModel(model, providers, entries));
  const offered = new Set(
    compiled.filter(({ upstreams }) => upstreams.length > 0).map(({ id }) => id),
  );
  const missing = new Map(file.models.map((model) => [model.id, missingFor(model, offered)]));
  return {
    models: new Map(
      compiled.filter(({ id }) => missing.get(id)!.length === 0).map((model) => [model.id, model]),
    ),
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

function bucketOf(s3: NonNullable<GatewayFile["storage"]>["s3"]): Bucket | null {
  if (s3 === undefined) return null;
  return {
    endpoint: s3.endpoint.replace(/\/$/, ""),
    region: s3.region ?? "us-east-1",
    bucket: s3.bucket,
    pathStyle: s3.path_style ?? true,
    prefix: s3.prefix ?? "",
    accessKeyId: s3.access_key_id,
    secretAccessKey: s3.secret_access_key,
  };
}

function nullIfZero(amount: string | undefined): string | null {
  return amount === undefined || /^[0.]*$/.test(amount) ? null : amount;
}

function ratesOf(rates: RatesEntry | undefined, otherwise: Rates): Rates {
  return {
    requestsPerMinute: rates?.requests_per_minute ?? otherwise.requestsPerMinute,
    tokensPerMinute: rates?.tokens_per_minute ?? otherwise.tokensPerMinute,
    runningTasks: rates?.running_tasks ?? otherwise.runningTasks,
    storageBytes: rates?.storage_bytes ?? otherwise.storageBytes,
  };
}

function planOf(id: string, plan: PlanEntry, rates: Rates): AccountPlan {
  return {
    id,
    name: plan.name ?? id,
    description: plan.description ?? null,
    priceBook: plan.price_book ?? "default",
    rates: ratesOf(plan.limits, rates),
    quotas: {
      text: plan.quotas?.text ?? 0,
      image: plan.quotas?.image ?? 0,
      video: plan.quotas?.video ?? 0,
    },
  };
}

function providerOf(id: string, provider: ProviderEntry, own: OwnAdapters): Provider {
  return {
    id,
    adapter: own.nameOf(provider.adapter),
    baseUrl: provider.base_url ?? null,
    apiKey: provider.api_key ?? null,
    headers: provider.headers ?? {},
    timeoutSeconds: provider.timeout_seconds ?? 120,
    concurrencyMax: provider.concurrency_max ?? null,
    on: provider.api_key !== "",
  };
}

function standardRoutes(capabilities: BuildCapabilities): RouteEntry[] {
  return STANDARD_ROUTES.map((route) => ({
    ...route,
    stage: capabilities.operations.has(route.operation) ? "released" : "planned",
  }));
}

function routeOf(route: RouteEntry): Route {
  return {
    path: route.path,
    operation: route.operation,
    stage: route.stage ?? "released",
    type: route.type ?? null,
    request: route.operation === "generation"
      ? route.request ?? definitionOf(route.type!).request.name
      : null,
    notice: route.deprecated_at === undefined
      ? null
      : noticeOf(route.deprecated_at, route.sunset_at),
  };
}
