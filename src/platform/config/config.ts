import type { BillingType, ModelStatus, ModelType } from "./model_type_specs.ts";

/** A declaration, compiled: what requests read. Frozen, so that one in flight cannot see it change. */
export interface Config {
  /** Names what is in force: the first 12 digits of the declaration's SHA-256. */
  readonly version: string;
  /** Files besides the declaration that it was made from. */
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
    /** Of bodies in memory at once, in one process. */
    readonly bodyBytesTotalMax: number;
    /** The same, of one account. */
    readonly bodyBytesAccountMax: number;
    readonly jsonDepthMax: number;
    readonly jsonValuesMax: number;
    /** How long a task may wait for an upstream. */
    readonly queueSecondsMax: number;
  };
  readonly plans: ReadonlyMap<string, AccountPlan>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly models: ReadonlyMap<string, Model>;
  /** Models that no provider can answer now, because all of theirs are switched off. */
  readonly withheld: readonly { readonly model: string; readonly reason: string }[];
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

/** Another place where people can say who they are. */
export interface SignInProvider {
  readonly id: string;
  readonly name: string;
  readonly kind: "github" | "google" | "oidc";
  /** Null for GitHub, which is not an OpenID provider. */
  readonly issuer: string | null;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A bucket of a service that speaks S3. */
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
  /** What uploads of an account may take together. */
  readonly storageBytes: number;
}

/** What an account is on; the contract with a client, not the compiled declaration. */
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
  /** Off: its key is declared and empty. */
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

export interface Model {
  readonly id: string;
  readonly type: ModelType;
  readonly status: ModelStatus;
  readonly capabilities: ReadonlySet<string>;
  readonly limits: ModelLimits;
  readonly upstreams: readonly Upstream[];
  readonly visibility: Visibility;
  readonly onDisconnect: "stop" | "drain";
  /** For dramas, in place of upstreams. */
  readonly pipeline: DramaPipeline | null;
  /** How long a task may take once an upstream has it. */
  readonly deadlineSeconds: number;
  /** The list entry and the detail view as JSON text, written once: no request serialises a model. */
  readonly listJson: string;
  readonly detailJson: string;
  readonly notice: ModelNotice | null;
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
  /** What the operator asks of the answer, beside what we do. */
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

export interface ModelLimits {
  readonly [key: string]: number | readonly number[] | readonly string[] | undefined;
}

export type Visibility = "everyone" | {
  readonly plans: ReadonlySet<string>;
  readonly accounts: ReadonlySet<string>;
};

/** Headers that say something is on its way out. */
export interface ModelNotice {
  readonly deprecation: string;
  readonly sunset: string | null;
}

export interface PriceBook {
  readonly id: string;
  /** Per model, first match wins: the book's own prices, newest first, then those of what it extends. */
  readonly prices: ReadonlyMap<string, readonly Price[]>;
}

export interface Price {
  readonly book: string;
  readonly model: string;
  readonly billingType: BillingType;
  readonly unit: string;
  /** The amounts as declared; exact decimal strings. */
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
  readonly notice: ModelNotice | null;
}

/** Whether an account may see and use a model. */
export function isVisible(model: Model, account: { id: string; plan: string }): boolean {
  const { visibility } = model;
  return visibility === "everyone" || visibility.plans.has(account.plan) ||
    visibility.accounts.has(account.id);
}

/** The price of a model in a book at a moment; null where it has none. */
export function priceInForce(book: PriceBook, model: string, now: number): Price | null {
  return book.prices.get(model)?.find((price) => price.effectiveAt <= now) ?? null;
}
