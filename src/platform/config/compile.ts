import { createHash } from "node:crypto";
import { withoutTrailing } from "../../lib/without_trailing.ts";
import { modelsOfPipeline } from "./compile_pipeline.ts";
import { compileBooks } from "./compile_prices.ts";
import { compileModel } from "./compile_models.ts";
import { compileSignIn } from "./compile_sign_in.ts";
import type * as declared from "./gateway_file.ts";
import type { BuildCapabilities } from "./checker.ts";
import { crossCheck } from "./cross_check.ts";
import { ConfigError, type ConfigFault, inOrder } from "./faults.ts";
import { configForTasks } from "./config_for_tasks.ts";
import { freeze } from "./freeze.ts";
import { type Environment, loadYaml } from "./load.ts";
import { noticeOf } from "./notice.ts";
import { type OwnAdapters, readOwnAdapters } from "./own_adapters.ts";
import type { AccountPlan, Bucket, Config, Provider, Rates, Route } from "./config.ts";
import { requestOf, STANDARD_ROUTES } from "./standard_routes.ts";
import { validateSchema } from "./validate.ts";

export interface CompileOptions {
  file: string;
  source: string;
  environment: Environment;
  known: BuildCapabilities;
  now: number;
  /**
   * Texts of provider files, for a configuration that was stored. It is compiled for tasks only: variables
   * that are not set any more switch their providers off, and the sections of the service itself are left out.
   */
  stored?: ReadonlyMap<string, string>;
}

/** What a declaration gives: a plan, or the reasons why not; warnings either way. */
export interface CompiledConfig {
  config: Config | null;
  faults: ConfigFault[];
  /** Texts of the provider files, by the name that the declaration has for each. */
  files: ReadonlyMap<string, string>;
}

/** load → validate → cross-check → compile → freeze. Everything wrong comes back at once. */
export function compileConfig(options: CompileOptions): CompiledConfig {
  const { stored } = options;
  const read = loadYaml(options.file, options.source, options.environment);
  const loaded = stored === undefined ? read : configForTasks(read);
  if (loaded.value === undefined) {
    return { config: null, faults: inOrder(loaded.faults), files: new Map() };
  }
  const { declaration, faults: shape } = validateSchema(loaded);
  const own = readOwnAdapters(loaded, options.known, stored);
  const before = [...loaded.faults, ...shape, ...own.faults];
  const faults = inOrder([...before, ...crossCheck(loaded, own.known, before, options.now)]);
  if (declaration === null || faults.some((fault) => fault.severity === "error")) {
    return { config: null, faults, files: own.texts };
  }
  const version = versionOf(loaded.written, own);
  return { config: freeze(assemble(declaration, version, own)), faults, files: own.texts };
}

/** The same for callers that cannot go on without a plan. */
export function compileOrThrow(
  options: CompileOptions,
): { config: Config; warnings: ConfigFault[]; files: CompiledConfig["files"] } {
  const { config, faults, files } = compileConfig(options);
  if (config === null) throw new ConfigError(options.file, options.source, faults);
  return { config, warnings: faults, files };
}

/** Comments and key order do not make a new version; nor do the environment's secrets. */
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

/** Shown in a description only where a declaration differs from them. */
export const BODY_LIMITS = { total: 256 * 1024 ** 2, account: 32 * 1024 ** 2, values: 100_000 };

function assemble(file: declared.Declaration, version: string, own: OwnAdapters): Config {
  const rates = ratesOf(file.limits?.default, {
    requestsPerMinute: 600,
    tokensPerMinute: 1_000_000,
    runningTasks: 20,
    storageBytes: 10 * 1024 ** 3,
  });
  const providers = new Map(
    Object.entries(file.providers).map(([id, provider]) => [id, providerOf(id, provider, own)]),
  );
  const declaredModels = new Map(file.models.map((model) => [model.id, model]));
  const models = file.models.map((model) => compileModel(model, providers, declaredModels));
  const offered = new Set(
    models.filter(({ upstreams }) => upstreams.length > 0).map(({ id }) => id),
  );
  const absentOf = (model: declared.Model) => absent(model, offered);
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
    storage: {
      queue: file.storage?.queue ?? "kv",
      sessions: file.storage?.sessions ?? "kv",
      files: file.storage?.files ?? "local",
      s3: bucketOf(file.storage?.s3),
      uploads: {
        image: file.storage?.uploads?.image_bytes_max ?? 16 * 1024 * 1024,
        audio: file.storage?.uploads?.audio_bytes_max ?? 25 * 1024 * 1024,
        video: file.storage?.uploads?.video_bytes_max ?? 200 * 1024 * 1024,
        keepDays: file.storage?.uploads?.keep_days ?? 30,
      },
      outputs: {
        urlHours: file.storage?.outputs?.url_hours ?? 24,
        keepDays: file.storage?.outputs?.keep_days ?? 7,
      },
    },
    requests: {
      bodyBytesMax: file.limits?.body_bytes_max ?? 32 * 1024 * 1024,
      bodyBytesTotalMax: file.limits?.body_bytes_total_max ?? BODY_LIMITS.total,
      bodyBytesAccountMax: file.limits?.body_bytes_account_max ?? BODY_LIMITS.account,
      jsonDepthMax: file.limits?.json_depth_max ?? 64,
      jsonValuesMax: file.limits?.json_values_max ?? BODY_LIMITS.values,
      queueSecondsMax: file.limits?.queue_seconds_max ?? 3600,
    },
    plans: new Map(
      Object.entries({ free: {}, ...file.plans }).map((
        [id, plan],
      ) => [id, planOf(id, plan, rates)]),
    ),
    providers,
    models: new Map(
      models.filter((_, index) => absentOf(file.models[index]!).length === 0)
        .map((model) => [model.id, model]),
    ),
    withheld: file.models.map((model) => ({ model: model.id, absent: absentOf(model) }))
      .filter(({ absent }) => absent.length > 0)
      .map(({ model, absent }) => ({ model, reason: `switched off: ${absent.join(", ")}` })),
    books: compileBooks(file.prices),
    routes: (file.routes ?? standardRoutes(own.known)).map(routeOf),
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
      welcomeCredit: aboveZero(file.site?.welcome_credit),
      trustedProxies: file.site?.trusted_proxies ?? 0,
      signIn: compileSignIn(file.site?.sign_in ?? []),
    },
  };
}

/** What a model lacks to be offered: its providers, or for a drama the models of its chain. */
function absent(model: declared.Model, offered: ReadonlySet<string>): string[] {
  if (model.chain !== undefined) {
    return [...new Set(modelsOfPipeline(model.chain).map((use) => use.model))]
      .filter((id) => !offered.has(id));
  }
  if (offered.has(model.id)) return [];
  return [...new Set((model.upstreams ?? []).map(({ provider }) => provider))];
}

function bucketOf(s3: NonNullable<declared.Declaration["storage"]>["s3"]): Bucket | null {
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

function aboveZero(amount: string | undefined): string | null {
  return amount === undefined || /^[0.]*$/.test(amount) ? null : amount;
}

function ratesOf(rates: declared.Rates | undefined, otherwise: Rates): Rates {
  return {
    requestsPerMinute: rates?.requests_per_minute ?? otherwise.requestsPerMinute,
    tokensPerMinute: rates?.tokens_per_minute ?? otherwise.tokensPerMinute,
    runningTasks: rates?.running_tasks ?? otherwise.runningTasks,
    storageBytes: rates?.storage_bytes ?? otherwise.storageBytes,
  };
}

function planOf(id: string, plan: declared.Plan, rates: Rates): AccountPlan {
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

function providerOf(id: string, provider: declared.Provider, own: OwnAdapters): Provider {
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

function standardRoutes(known: BuildCapabilities): declared.Route[] {
  return STANDARD_ROUTES.map((route) => ({
    ...route,
    stage: known.operations.has(route.operation) ? "released" : "planned",
  }));
}

function routeOf(route: declared.Route): Route {
  return {
    path: route.path,
    operation: route.operation,
    stage: route.stage ?? "released",
    type: route.type ?? null,
    request: route.operation === "generation" ? route.request ?? requestOf(route.type!) : null,
    notice: route.deprecated_at === undefined
      ? null
      : noticeOf(route.deprecated_at, route.sunset_at),
  };
}
