import type {
  AccountPlan,
  Bucket,
  Config,
  DramaPipeline,
  Model,
  OptionalStage,
  Price,
  Provider,
  SignInProvider,
} from "./config.ts";
import { DEFAULT_BODY_LIMITS } from "./compile.ts";

/**
 * A configuration as plain JSON without secrets: `/admin/v1/config` returns it, `diffConfigs` compares two,
 * and the golden cases contain it. Keys are named as in gateway.yaml.
 */
export interface Description {
  version: string;
  [section: string]: unknown;
}

export function describeConfig(config: Config): Description {
  return {
    version: config.version,
    ...describeSettings(config),
    plans: mapped(config.plans, describeAccountPlan),
    providers: mapped(config.providers, describeProvider),
    models: mapped(config.models, describeModel),
    unavailable_models: Object.fromEntries(
      config.unavailableModels.map(({ model, reason }) => [model, reason]),
    ),
    prices: mapped(config.books, ({ prices }) => mapped(prices, (list) => list.map(describePrice))),
    routes: Object.fromEntries(config.routes.map(({ path, ...rest }) => [path, rest])),
  };
}

function mapped<T>(
  entries: ReadonlyMap<string, T>,
  describe: (entry: T) => unknown,
): Record<string, unknown> {
  return Object.fromEntries([...entries].map(([id, entry]) => [id, describe(entry)]));
}

function describeSettings({ service, storage, requests, webhooks, outbound, site }: Config) {
  return {
    service: {
      name: service.name,
      base_url: service.baseUrl,
      currency: service.currency,
      currency_scale: service.currencyScale,
      support_url: service.supportUrl,
    },
    storage: {
      queue: storage.queue,
      sessions: storage.sessions,
      files: storage.files,
      ...(storage.s3 === null ? {} : { s3: describeBucket(storage.s3) }),
      uploads: {
        image_bytes_max: storage.uploads.image,
        audio_bytes_max: storage.uploads.audio,
        video_bytes_max: storage.uploads.video,
        keep_days: storage.uploads.keepDays,
      },
      outputs: { url_hours: storage.outputs.urlHours, keep_days: storage.outputs.keepDays },
    },
    limits: {
      body_bytes_max: requests.bodyBytesMax,
      ...unlessDefault(
        "body_bytes_total_max",
        requests.bodyBytesTotalMax,
        DEFAULT_BODY_LIMITS.total,
      ),
      ...unlessDefault(
        "body_bytes_account_max",
        requests.bodyBytesAccountMax,
        DEFAULT_BODY_LIMITS.account,
      ),
      ...unlessDefault("json_values_max", requests.jsonValuesMax, DEFAULT_BODY_LIMITS.values),
      json_depth_max: requests.jsonDepthMax,
      queue_seconds_max: requests.queueSecondsMax,
    },
    webhooks: {
      retry_seconds: webhooks.retrySeconds,
      timeout_seconds: webhooks.timeoutSeconds,
      disable_after_days: webhooks.disableAfterDays,
    },
    outbound: { allow_private: outbound.allowPrivate },
    site: {
      url: site.url,
      registration: site.registration,
      ...(site.welcomeCredit === null ? {} : { welcome_credit: site.welcomeCredit }),
      ...(site.trustedProxies === 0 ? {} : { trusted_proxies: site.trustedProxies }),
      ...(site.signIn.size === 0 ? {} : { sign_in: mapped(site.signIn, describeSignIn) }),
    },
  };
}

function describeSignIn({ name, kind, issuer, clientId }: SignInProvider) {
  return { name, kind, issuer, client_id: clientId };
}

function describeBucket({ endpoint, region, bucket, pathStyle, prefix }: Bucket) {
  return { endpoint, region, bucket, path_style: pathStyle, prefix };
}

function describeAccountPlan({ name, description, priceBook, rates, quotas }: AccountPlan) {
  const limits = {
    requests_per_minute: rates.requestsPerMinute,
    tokens_per_minute: rates.tokensPerMinute,
    running_tasks: rates.runningTasks,
    storage_bytes: rates.storageBytes,
  };
  return { name, description, price_book: priceBook, limits, quotas };
}

/** Shows the names of headers and whether a key is set, never their values. */
function describeProvider(provider: Provider) {
  return {
    adapter: provider.adapter,
    base_url: withoutCredentials(provider.baseUrl),
    has_key: provider.apiKey !== null && provider.apiKey !== "",
    headers: Object.keys(provider.headers),
    timeout_seconds: provider.timeoutSeconds,
    concurrency_max: provider.concurrencyMax,
    on: provider.on,
  };
}

/** A URL may contain a user name and a password, or a key in its query. */
function withoutCredentials(url: string | null): string | null {
  if (url === null || !/[@?]/.test(url)) return url;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

function describeModel(model: Model): Record<string, unknown> {
  const { id: _id, object: _object, ...published } = JSON.parse(model.detailJson);
  return {
    ...published,
    upstreams: model.upstreams.map(({ timeoutSeconds, cost, extraBody, ...upstream }) => ({
      ...upstream,
      timeout_seconds: timeoutSeconds,
      cost,
      ...(extraBody === undefined ? {} : { extra_body: extraBody }),
    })),
    visible_to: model.visibility === "everyone" ? "everyone" : {
      plans: [...model.visibility.plans],
      accounts: [...model.visibility.accounts],
    },
    on_disconnect: model.onDisconnect,
    ...(model.pipeline === null ? {} : { chain: describePipeline(model.pipeline) }),
    deadline_seconds: model.deadlineSeconds,
    ...(model.notice === null ? {} : { notice: model.notice }),
  };
}

function describePipeline(pipeline: DramaPipeline): Record<string, unknown> {
  const { shotsMin, shotsAtOnce, ...rest } = pipeline;
  const storyboard = ifOffered(pipeline.storyboard);
  const video = ifOffered(pipeline.video);
  return {
    ...rest,
    roles: ifOffered(pipeline.roles),
    storyboard: storyboard && { ...storyboard, sizes: Object.fromEntries(storyboard.sizes) },
    video: video && { ...video, speech: ifOffered(video.speech) },
    min_shots: shotsMin,
    shots_at_once: shotsAtOnce,
  };
}

function ifOffered<Stage>(stage: OptionalStage<Stage>): Omit<Stage, "offered"> | null {
  if (!stage.offered) return null;
  const { offered: _, ...described } = stage;
  return described as unknown as Omit<Stage, "offered">;
}

function describePrice(price: Price): Record<string, unknown> {
  return {
    book: price.book,
    billing_type: price.billingType,
    unit: price.unit,
    ...price.amounts,
    effective_at: new Date(price.effectiveAt).toISOString(),
  };
}

function unlessDefault(name: string, value: number, defaultValue: number): Record<string, number> {
  return value === defaultValue ? {} : { [name]: value };
}
