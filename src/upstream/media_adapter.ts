import type { Awaitable } from "../lib/awaitable.ts";
import type { InputRole, MediaUsage } from "../model_types/definition.ts";
import type { MediaJobType } from "../model_types/model_types.ts";
import type {
  Operation,
  UpstreamBody,
  UpstreamFault,
  UpstreamReply,
  UpstreamRequest,
  UpstreamTarget,
} from "./adapter.ts";

export type { MediaJobType, MediaUsage };

/** One generation, in the gateway's format. An adapter translates it and never reads the client's body. */
export interface MediaJob {
  readonly type: MediaJobType;
  /**
   * The gateway's own id, the same for every submission of this job. Sent to providers that accept an idempotency
   * key or a reference, so that a job whose submission had no response can be found.
   */
  readonly reference: string;
  /** The prompt; for speech, the text to speak. Null for a job that has only files. */
  readonly prompt: string | null;
  /** The client's parameters, validated against the model's limits: size, n, duration, aspect_ratio, voice, … */
  readonly parameters: Readonly<Record<string, string | number | boolean>>;
  readonly inputs: readonly MediaInput[];
  /** The URL for the provider's callback; null where the gateway cannot be reached. */
  readonly callbackUrl: string | null;
}

export interface MediaInput {
  readonly role: InputRole;
  readonly mimeType: string;
  readonly filename: string;
  /** A URL that the provider can fetch; null where the gateway is not on the internet. */
  readonly url: string | null;
  /** The bytes, for an adapter whose `inputs` is `bytes`, or where there is no URL. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
}

export type MediaRequest = UpstreamRequest<UpstreamBody>;

/** A job with the replies to the requests that prepared it. */
export interface PreparedJob {
  readonly job: MediaJob;
  readonly prepared: readonly UpstreamReply[];
}

/** The status of a job at the provider. */
export type JobStatus =
  | { readonly state: "queued" | "running"; /** 0 to 100. */ readonly progress: number | null }
  | {
    readonly state: "succeeded";
    readonly outputs: readonly UpstreamOutput[];
    readonly usage: MediaUsage | null;
  }
  | { readonly state: "failed"; readonly fault: UpstreamFault }
  /** `usage`: what the provider billed although the job was cancelled. */
  | { readonly state: "cancelled"; readonly usage: MediaUsage | null };

/** An output: its bytes, or the URL to fetch them from. */
export type UpstreamOutput =
  | { readonly bytes: Uint8Array<ArrayBuffer>; readonly mimeType: string | null }
  /** The URL is not shown to clients. It is stored with the job, so `headers` must not contain secrets. */
  | {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly mimeType: string | null;
    /** The download needs our API key (`keyHeaders`), which is sent to the provider's own host only. */
    readonly withKey?: true;
  };

export type Submitted =
  /** Accepted; the id is polled. */
  | { readonly id: string; readonly status?: JobStatus }
  /** The response contains the outputs; there is nothing to poll. */
  | { readonly id: null; readonly status: JobStatus };

/**
 * Translates jobs of one type that make files. Plain data in, plain data out, like every adapter. Functions may
 * be async because expressions of provider files are; none of them waits for I/O.
 */
export interface MediaAdapter {
  /** What it prefers for inputs. It accepts bytes for an input without a URL in any case. */
  readonly inputs: "url" | "bytes";
  /** How often to poll: first after `firstMs`, then growing by half up to `maxMs`, with jitter. */
  readonly polling: { readonly firstMs: number; readonly maxMs: number };
  /**
   * Requests before the submission, such as uploads; `submit` gets their replies. Repeating them must be
   * free.
   */
  prepare?(job: MediaJob, target: UpstreamTarget): Awaitable<readonly MediaRequest[]>;
  /** `write` throws an `ApiError` for a job that this provider does not support; another upstream may support it. */
  readonly submit: Operation<PreparedJob, Submitted>;
  /** By the provider's job id. Absent where the response to every submission contains the outputs. */
  readonly poll?: Operation<string, JobStatus | { readonly state: "result" }>;
  /** Requests the outputs after `poll` read `result`: they have another URL than the status. */
  readonly result?: Operation<string, JobStatus>;
  /** Reads null where the response does not contain the job's status; polling shows it. */
  readonly cancel?: Operation<string, JobStatus | null>;
  /**
   * Finds a job by our reference; absent where the provider cannot. Reads the provider's job id; null: the provider
   * did not receive the job. Throws if the response proves neither.
   */
  readonly find?: Operation<string, string | null>;
  /** Headers with our API key, for outputs `withKey`. */
  keyHeaders?(target: UpstreamTarget): Record<string, string>;
  /** The fault that a non-2xx response describes. `body` is parsed JSON, or text for any other type. */
  fault(status: number, body: unknown): UpstreamFault;
  /** Whether the error code of a 5xx response proves that the job was not started. Never reads error texts. */
  isDeclined?(status: number, body: unknown): boolean;
  /**
   * Reads the job id of a provider callback. A callback only triggers a poll, so that a forged one cannot change
   * a job.
   */
  readCallback?(body: unknown): Awaitable<string | null>;
}
