import type { LimitedModel } from "../../model_types/definition.ts";
import type { ModelType } from "../../model_types/model_types.ts";
import type { BillingType } from "../../model_types/units.ts";

export const MODEL_STATUSES = ["available", "preview", "deprecated", "unavailable"] as const;
export type ModelStatus = (typeof MODEL_STATUSES)[number];

/** The compiled configuration that requests read. Frozen: it cannot change while a request uses it. */
export interface Config {
  /** The first 12 digits of the SHA-256 of the configuration file's content. */
  readonly version: string;
  /** Provider files that the configuration was compiled from, besides gateway.yaml. */
  readonly files: readonly string[];
  readonly service: {
    readonly name: string;
    readonly baseUrl: string | null;
    readonly currency: string;
    readonly currencyScale: number;
    readonly supportUrl: string | null;
  };
  readonly storage: {
    readonly queue: "kv" | "postgres";
    readonly sessions: "kv" | "postgres";
    readonly files: "local" | "s3";
    readonly s3: Bucket | null;
    readonly uploads: Readonly<Record<"image" | "audio" | "video", number>> & {
      readonly keepDays: number;
    };
    readonly outputs: { readonly urlHours: number; readonly keepDays: number };
  };
  readonly requests: {
    readonly bodyBytesMax: number;
    /** Limit for all JSON bodies in memory, per process. */
    readonly bodyBytesTotalMax: number;
    /** Limit for the JSON bodies of one account in memory, per process. */
    readonly bodyBytesAccountMax: number;
    readonly jsonDepthMax: number;
    readonly jsonValuesMax: number;
    /** How long a task may wait in the queue before it expires. */
    readonly queueSecondsMax: number;
  };
  readonly plans: ReadonlyMap<string, AccountPlan>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly models: ReadonlyMap<string, Model>;
  /** Models that are not offered because all of their providers are disabled. */
  readonly unavailableModels: readonly { readonly model: string; readonly reason: string }[];
  readonly books: ReadonlyMap<string, PriceBook>;
  readonly routes: readonly Route[];
  readonly webhooks: {
    readonly retrySeconds: readonly number[];
    readonly timeoutSeconds: number;
    readonly disableAfterDays: number;
  };
  readonly outbound: { readonly allowPrivate: boolean };
  readonly site: {
    readonly url: string | null;
    readonly registration: boolean;
    /** A decimal string above zero. */
    readonly welcomeCredit: string | null;
    readonly trustedProxies: number;
    readonly signIn: ReadonlyMap<string, SignInProvider>;
  };
}

/** An OAuth or OpenID Connect provider that people can sign in with. */
export interface SignInProvider {
  readonly id: string;
  readonly name: string;
  readonly kind: "github" | "google" | "oidc";
  /** Null for GitHub, which is not an OpenID provider. */
  readonly issuer: string | null;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A bucket of an S3-compatible service. */
export interface Bucket {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly pathStyle: boolean;
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface Rates {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  readonly runningTasks: number;
  /** Limit for all uploads of an account. */
  readonly storageBytes: number;
}

/** A plan that an account can be on: its price book, rate limits and quotas. */
export interface AccountPlan {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly priceBook: string;
  readonly rates: Rates;
  readonly quotas: { readonly text: number; readonly image: number; readonly video: number };
}

export interface Provider {
  readonly id: string;
  readonly adapter: string;
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly concurrencyMax: number | null;
  /** False when `api_key` is configured but empty. */
  readonly on: boolean;
}

export interface Upstream {
  readonly provider: string;
  readonly model: string;
  readonly priority: number;
  readonly weight: number;
  readonly timeoutSeconds: number;
  readonly cost: { readonly unit: string; readonly [key: string]: string } | null;
  /** Added to the body of every request. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
}

export interface Model extends LimitedModel {
  readonly type: ModelType;
  readonly status: ModelStatus;
  readonly upstreams: readonly Upstream[];
  readonly visibility: Visibility;
  readonly onDisconnect: "stop" | "drain";
  /** For dramas, in place of upstreams. */
  readonly pipeline: DramaPipeline | null;
  /** How long a task may run after an upstream has accepted it. */
  readonly deadlineSeconds: number;
  /** The list entry and the detail view as JSON text: serialised once, not per request. */
  readonly listJson: string;
  readonly detailJson: string;
  readonly notice: DeprecationNotice | null;
}

/** The stages of a drama. Only the script is offered by every model. */
export interface DramaPipeline {
  readonly script: TextStage;
  readonly roles: OptionalStage<TextStage>;
  readonly storyboard: OptionalStage<StoryboardStage>;
  readonly video: OptionalStage<VideoStage>;
  readonly shotsMin: number;
  readonly tries: number;
  readonly shotsAtOnce: number;
}

/** A stage that a pipeline offers, or does not. */
export type OptionalStage<Stage> = ({ readonly offered: true } & Stage) | {
  readonly offered: false;
};

export interface TextStage {
  readonly model: string;
  readonly prompt: string;
  /** A JSON Schema that the response must match in addition to the gateway's own. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly maxOutputTokens: number;
}

export interface StoryboardStage {
  readonly model: string;
  readonly prompt: string;
  /** By aspect ratio. */
  readonly sizes: ReadonlyMap<string, string>;
}

export interface VideoStage {
  readonly model: string;
  readonly prompt: string;
  /** Seconds of a shot. */
  readonly duration: number;
  readonly speech: OptionalStage<SpeechStage>;
}

export interface SpeechStage {
  readonly model: string;
  readonly voices: readonly string[];
  readonly charactersMax: number;
}

export type Visibility = "everyone" | {
  readonly plans: ReadonlySet<string>;
  readonly accounts: ReadonlySet<string>;
};

/** Values of the Deprecation and Sunset headers. */
export interface DeprecationNotice {
  readonly deprecation: string;
  readonly sunset: string | null;
}

export interface PriceBook {
  readonly id: string;
  /** Per model, first match wins: the book's own prices, newest first, then those of its parents. */
  readonly prices: ReadonlyMap<string, readonly Price[]>;
}

export interface Price {
  readonly book: string;
  readonly model: string;
  readonly billingType: BillingType;
  readonly unit: string;
  /** The amounts as configured: exact decimal strings. */
  readonly amounts: Readonly<Partial<Record<AmountName, string>>>;
  readonly effectiveAt: number;
}

export type AmountName =
  | "price"
  | "input_price"
  | "output_price"
  | "cached_input_price"
  | "reasoning_price"
  | "minimum_charge";

export interface Route {
  readonly path: string;
  readonly operation: string;
  readonly stage: "released" | "preview" | "planned";
  readonly type: ModelType | null;
  readonly request: string | null;
  readonly notice: DeprecationNotice | null;
}

/** Whether an account may see and use a model. */
export function isVisible(model: Model, account: { id: string; plan: string }): boolean {
  const { visibility } = model;
  return visibility === "everyone" || visibility.plans.has(account.plan) ||
    visibility.accounts.has(account.id);
}

/** The price of a model in a book at a time; null where it has none. */
export function priceInForce(book: PriceBook, model: string, now: number): Price | null {
  return book.prices.get(model)?.find((price) => price.effectiveAt <= now) ?? null;
}
