import type { Awaitable } from "../lib/awaitable.ts";
import type { UpstreamFault, UpstreamTarget } from "./adapter.ts";

/** Types of model whose answer is a file. */
export type MediaJobType = "image" | "video" | "avatar" | "speech";

/** One generation, in the gateway's words. An adapter translates it; it never looks at the client's body. */
export interface MediaJob {
  readonly type: MediaJobType;
  /**
   * Ours, the same for every repetition of this job. Sent where a provider takes an idempotency key or a
   * reference, so that a submission whose reply was lost can be found again.
   */
  readonly reference: string;
  /** The prompt; for speech, the text to speak. Null where the job is made of files alone. */
  readonly prompt: string | null;
  /** What the client asked for and the model's limits let pass: size, n, duration, aspect_ratio, voice, … */
  readonly parameters: Readonly<Record<string, string | number | boolean>>;
  readonly inputs: readonly MediaInput[];
  /** Where the provider may report the end of it, where it can and we are reachable. */
  readonly callbackUrl: string | null;
}

export interface MediaInput {
  readonly role: "image" | "avatar" | "audio";
  readonly mimeType: string;
  readonly filename: string;
  /** An address the provider can fetch; null where there is none (a gateway that is not on the internet). */
  readonly url: string | null;
  /** The bytes, for an adapter whose `inputs` is `bytes`, or where there is no address. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
}

export interface MediaRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array<ArrayBuffer> | FormData | null;
}

/** An answer of 2xx. `body` is parsed JSON where it was JSON, else bytes. */
export interface MediaReply {
  readonly status: number;
  readonly mimeType: string;
  readonly headers: Pick<Headers, "get">;
  readonly body: unknown;
}

/** What is known of a job now. */
export type JobStatus =
  | { readonly state: "queued" | "running"; /** 0 to 100. */ readonly progress: number | null }
  | {
    readonly state: "succeeded";
    readonly outputs: readonly UpstreamOutput[];
    readonly usage: MediaUsage | null;
  }
  | { readonly state: "failed"; readonly fault: UpstreamFault }
  /** `usage`: what the provider billed all the same. */
  | { readonly state: "cancelled"; readonly usage: MediaUsage | null };

/** A result: bytes in the answer itself, or where to fetch them. */
export type UpstreamOutput =
  | { readonly bytes: Uint8Array<ArrayBuffer>; readonly mimeType: string | null }
  /** The address never leaves the gateway. It is written down with the job, so `headers` are no secrets. */
  | {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly mimeType: string | null;
    /** The provider wants to know who fetches: with `keyHeaders`, and from its own host only. */
    readonly withKey?: true;
  };

/** What a provider says it made, where it says so. Counted in whole outputs and milliseconds. */
export interface MediaUsage {
  readonly outputs?: number;
  readonly durationMs?: number;
}

export type Submitted =
  /** Accepted under an id that is polled. */
  | { readonly id: string; readonly status?: JobStatus }
  /** Done at once; there is nothing to poll. */
  | { readonly id: null; readonly status: JobStatus };

/**
 * Jobs of one type, whose answer is a file. Plain data in, plain data out, like every adapter; functions
 * may be async because an expression of a declared provider is, never because they wait for anything.
 */
export interface MediaAdapter {
  /** What inputs it wants. Either way it can do with bytes where an input has no address. */
  readonly inputs: "url" | "bytes";
  /** How often to look: first after `firstMs`, then growing by half up to `maxMs`, with jitter. */
  readonly polling: { readonly firstMs: number; readonly maxMs: number };
  /**
   * Requests that must come before the submission (an upload, say); their replies are handed to `submit`.
   * Repeating them must cost nothing.
   */
  prepare?(job: MediaJob, target: UpstreamTarget): Awaitable<readonly MediaRequest[]>;
  /** Throws a `Refusal` for what this provider cannot do; another upstream of the model might. */
  submit(
    job: MediaJob,
    target: UpstreamTarget,
    prepared: readonly MediaReply[],
  ): Awaitable<MediaRequest>;
  readSubmitted(reply: MediaReply, job: MediaJob, target: UpstreamTarget): Awaitable<Submitted>;
  /** Absent where every submission is done at once. */
  poll?(id: string, target: UpstreamTarget): Awaitable<MediaRequest>;
  readPolled?(
    reply: MediaReply,
    target: UpstreamTarget,
    id: string,
  ): Awaitable<JobStatus | { readonly state: "result" }>;
  /** Where the outputs lie at another address than the state; asked when `readPolled` says `result`. */
  result?(id: string, target: UpstreamTarget): Awaitable<MediaRequest>;
  readResult?(reply: MediaReply, target: UpstreamTarget, id: string): Awaitable<JobStatus>;
  /**
   * Whether this status tells of the job, not of a failed call: of a look or a result, that it came to
   * nothing; of `find`, that nobody has it.
   */
  isFinal?(step: "poll" | "result" | "find", status: number): boolean;
  cancel?(id: string, target: UpstreamTarget): Awaitable<MediaRequest>;
  /** Null: the answer says nothing of what became of it; polling will. */
  readCancelled?(reply: MediaReply): Awaitable<JobStatus | null>;
  /** Looks for a submission by our reference; absent where the provider cannot. */
  find?(reference: string, target: UpstreamTarget): Awaitable<MediaRequest>;
  /** The provider's id, or null: it never got it. Throws where the answer does not say. */
  readFound?(reply: MediaReply, reference: string): Awaitable<string | null>;
  /** What identifies us, for outputs `withKey`. */
  keyHeaders?(target: UpstreamTarget): Record<string, string>;
  /** What an answer that is not 2xx means. `body` is parsed JSON where it was JSON, else text. */
  fault(status: number, body: unknown): UpstreamFault;
  /** Whether the error code of a 5xx response proves that the job was not started. Never reads error texts. */
  isDeclined?(status: number, body: unknown): boolean;
  /**
   * Reads a provider's call to us. It is only ever taken as a bell: the id it names is then polled, so a
   * forged one costs a poll and changes nothing.
   */
  readCallback?(body: unknown): Awaitable<string | null>;
}
