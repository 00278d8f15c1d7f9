import type { AnySchemaObject } from "ajv/dist/2020.js";
import type { ModelLimits } from "../../model_types/definition.ts";
import type { PriceTerms } from "../../model_types/price_terms.ts";
import type { BillingType } from "../../model_types/units.ts";
import type { UsageKind } from "../../model_types/usage.ts";
import type {
  GatewayFile,
  ModelEntry,
  PlanEntry,
  ProviderEntry,
  RatesEntry,
  RouteEntry,
  SignInProviderEntry,
  UpstreamEntry,
} from "./gateway_file.ts";
import type { SettingsOf } from "./settings.ts";

export const MODEL_STATUSES = ["available", "preview", "deprecated", "unavailable"] as const;
export type ModelStatus = (typeof MODEL_STATUSES)[number];

/** Sections that consist of settings only: requests read them as the file has them, with defaults. */
type Sections = SettingsOf<
  Omit<GatewayFile, "plans" | "providers" | "models" | "prices" | "routes">
>;

/** The compiled configuration that requests read. Frozen: it cannot change while a request uses it. */
export interface Config extends Omit<Sections, "site"> {
  /** The first 12 digits of the SHA-256 of the configuration file's content. */
  readonly version: string;
  readonly plans: ReadonlyMap<string, AccountPlan>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly models: ReadonlyMap<string, Model>;
  /** Ids of models by their aliases. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Models that are not offered because all of their providers are disabled. */
  readonly unavailableModels: readonly { readonly model: string; readonly reason: string }[];
  readonly books: ReadonlyMap<string, PriceBook>;
  readonly routes: readonly Route[];
  readonly site: Omit<Sections["site"], "signIn"> & {
    /** The enabled ones. */
    readonly signIn: ReadonlyMap<string, SignInProvider>;
  };
}

/** An OAuth or OpenID Connect provider that people can sign in with. */
export interface SignInProvider extends SettingsOf<SignInProviderEntry> {
  readonly name: string;
}

/** A bucket of an S3-compatible service. */
export type Bucket = NonNullable<Sections["storage"]["s3"]>;

export type Rates = SettingsOf<Required<RatesEntry>>;

/** A plan that an account can be on: its price book, rate limits and quotas. */
export interface AccountPlan extends Omit<SettingsOf<PlanEntry>, "limits" | "quotas"> {
  readonly id: string;
  readonly name: string;
  /** The limits of the plan; those it does not set are the default ones. */
  readonly rates: Rates;
  /** Monthly quotas. */
  readonly quotas: Readonly<Record<UsageKind, number>>;
  /** The models that a quota is for; left out: all that use it. */
  readonly quotaModels: { readonly [kind in UsageKind]?: ReadonlySet<string> };
}

export interface Provider extends SettingsOf<ProviderEntry> {
  readonly id: string;
  /** False when `api_key` is configured but empty. */
  readonly on: boolean;
}

export interface Upstream extends Omit<SettingsOf<UpstreamEntry>, "cost" | "extraBody"> {
  readonly model: string;
  readonly timeoutSeconds: number;
  readonly cost: UpstreamCost | null;
  /** Added to the body of every request. */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
}

/** What an upstream charges. */
export interface UpstreamCost extends PriceTerms {
  readonly unit: string;
}

export interface Model
  extends Omit<SettingsOf<ModelEntry>, "capabilities" | "limits" | "upstreams"> {
  readonly capabilities: ReadonlySet<string>;
  /** Named as in the file, because clients see them. */
  readonly limits: ModelLimits;
  readonly upstreams: readonly Upstream[];
  readonly visibility: Visibility;
  /** For dramas, in place of upstreams: the chain with what it takes from its models. */
  readonly pipeline: DramaPipeline | null;
  /** The list entry and the detail view as JSON text: serialised once, not per request. */
  readonly listJson: string;
  readonly detailJson: string;
  /** From this moment on it is unavailable; infinity: it does not end. */
  readonly endsAt: number;
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
  readonly terms: PriceTerms;
  readonly effectiveAt: number;
}

export interface Route extends SettingsOf<RouteEntry> {
  /** A schema from a file of the operator, which requests must match as well as the one of the type. */
  readonly requestSchema: AnySchemaObject | null;
  readonly notice: DeprecationNotice | null;
}

/** Who asks for models: an account, with a key that may be for some models only. */
export interface ModelReader {
  readonly id: string;
  readonly plan: string;
  /** Tells whether the key is for a model; null: it is for all. */
  readonly allowsModel?: ((model: string) => boolean) | null;
}

/** Whether an account may see and use a model. */
export function isVisible(model: Model, account: ModelReader): boolean {
  const { visibility } = model;
  if (account.allowsModel?.(model.id) === false) return false;
  return visibility === "everyone" || visibility.plans.has(account.plan) ||
    visibility.accounts.has(account.id);
}

/** The status of a model at a time: one whose sunset has passed is unavailable. */
export function statusAt({ status, endsAt }: Model, now: number): ModelStatus {
  return endsAt <= now ? "unavailable" : status;
}

/** The price of a model in a book at a time; null where it has none. */
export function priceInForce(book: PriceBook, model: string, now: number): Price | null {
  return book.prices.get(model)?.find((price) => price.effectiveAt <= now) ?? null;
}
