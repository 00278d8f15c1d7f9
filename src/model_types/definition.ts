import type { Awaitable } from "../lib/awaitable.ts";
import type { BillingType } from "./units.ts";
import type { Usage, UsageKind } from "./usage.ts";

/** Everything that differs between types of models. Rules only: no I/O and no configuration. */
export type ModelTypeDefinition =
  | ChatModelType
  | EmbeddingModelType
  | MediaModelType
  | PipelineModelType;

interface CommonRules {
  /** What a model of the type may be configured to do. */
  readonly capabilities: readonly string[];
  /** What the configuration may limit. */
  readonly limits: readonly string[];
  /** Units by billing type; other billing types are not allowed. */
  readonly units: Readonly<Partial<Record<BillingType, readonly string[]>>>;
  /** The quota that pays for it; null: always paid with money. */
  readonly quota: UsageKind | null;
  /** Its endpoint in a configuration without `routes`. */
  readonly endpoint: {
    readonly path: string;
    readonly operation: "chat" | "embeddings" | "speech" | "generation";
  };
  /** The body of its requests, and the name that routes of the configuration use for it. */
  readonly request: { readonly name: string; readonly schema: RequestSchema };
}

/** Answered in the response, token by token: its check, bounds and meter are functions of chat.ts. */
export interface ChatModelType extends CommonRules {
  readonly work: "chat";
}

/** Answered in the response, with vectors: its check, bounds and meter are functions of embedding.ts. */
export interface EmbeddingModelType extends CommonRules {
  readonly work: "embedding";
}

/** A task made of tasks of other models: its rules are functions of drama.ts. */
export interface PipelineModelType extends CommonRules {
  readonly work: "pipeline";
}

/** One job at one upstream that makes files. */
export interface MediaModelType extends CommonRules {
  readonly work: "media";
  readonly output: MediaKind;
  /** Checks a request against its model's limits and capabilities, and fills in defaults. */
  check(request: RequestCheck): Awaitable<CheckedRequest>;
  /** What a finished job used: at most what was requested and held. */
  meter(job: TaskJob, made: MadeOutputs): MeteredTask;
}

/** Kinds of media that are made and stored. */
export type MediaKind = "image" | "audio" | "video";
/** Texts are results of dramas; models neither take nor make them. */
export type FileKind = MediaKind | "text";

/** A JSON Schema of an object. */
export interface RequestSchema {
  readonly title: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

/** The part of a configured model that requests are checked against. */
export interface LimitedModel {
  readonly id: string;
  readonly capabilities: ReadonlySet<string>;
  readonly limits: ModelLimits;
}

export interface ModelLimits {
  readonly [key: string]: number | readonly number[] | readonly string[] | undefined;
}

/** A request body that its schema let pass. */
export type RequestFields = Readonly<Record<string, unknown>>;

/** A request and what it is checked against. */
export interface RequestCheck {
  readonly model: LimitedModel;
  readonly body: RequestFields;
  readonly findFile: FindFile;
  /** Throws an `ApiError` for a URL that an upstream must not fetch. */
  readonly checkUrl: (url: string, param: string) => void;
}

/** A file of the account; null where it has none with this id. */
export type FindFile = (id: string) => Promise<InputFile | null>;

export interface InputFile {
  readonly id: string;
  readonly kind: FileKind;
  readonly durationMs: number | null;
}

/** What a request asks for, checked and filled in, and the most it can use. */
export interface CheckedRequest {
  readonly job: TaskJob;
  readonly maxUsage: Usage;
}

/** The request of a generation as stored: checked, with defaults filled in. */
export interface TaskJob {
  readonly prompt: string | null;
  readonly parameters: Readonly<Record<string, string | number | boolean>>;
  readonly inputs: readonly InputRef[];
  /** A request waits for the task: it fails soon rather than late. */
  readonly is_awaited?: boolean | undefined;
}

/** A file of the account, or a URL from the request. */
export type InputRef =
  & { readonly role: InputRole }
  & ({ readonly file_id: string } | { readonly url: string });

export type InputRole = "image" | "avatar" | "audio";

export interface MadeOutputs {
  /** The stored results, with their seconds; null: the job was cancelled, and only `reported` counts. */
  readonly outputs: readonly { readonly duration?: number }[] | null;
  readonly reported: MediaUsage | null;
}

/** What a provider reports as made, in outputs and milliseconds. */
export interface MediaUsage {
  readonly outputs?: number;
  readonly durationMs?: number;
}

/** What is paid for, and what clients read as `usage.total_units`. */
export interface MeteredTask {
  readonly usage: Usage;
  readonly units: number;
}
