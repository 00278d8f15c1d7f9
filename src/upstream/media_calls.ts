import type { Config, Model, Upstream } from "../platform/config/config.ts";
import type { Span } from "../platform/tracing/span.ts";
import type { AttemptKind, AttemptSubject } from "./admission.ts";
import type { UpstreamChoice } from "./fallback.ts";
import type { JobStatus, MediaJob, Submitted, UpstreamOutput } from "./media_adapter.ts";

/** The bytes of an output as a stream. The caller reads it to its end or cancels it. */
export interface FetchedOutput {
  readonly body: ReadableStream<Uint8Array>;
  /** As the provider says; not verified. */
  readonly mimeType: string | null;
}

/** The upstream that a job is assigned to; `upstream` is one of the model's, in the same configuration. */
export interface UpstreamAssignment {
  readonly config: Config;
  readonly model: Model;
  readonly upstream: Upstream;
  /** The task that the job belongs to, as the log names it. */
  readonly subject?: AttemptSubject;
  /** The step of the task, if it is traced: calls become its spans. */
  readonly span?: Span | null;
}

/**
 * Calls to upstreams that make files. Nothing here waits, retries or keeps state: each call is one exchange
 * (or a short fixed sequence of them) with a deadline, and throws `UpstreamFailure`.
 */
export interface MediaCalls {
  /**
   * Picks an upstream by priority, weight, health and capacity; `tried` are names from `upstreamName`. The
   * circuit breaker decides by `attempt`, here and in `submit`; left out, it is the first.
   */
  choose(
    config: Config,
    model: Model,
    tried: readonly string[],
    attempt?: AttemptKind,
  ): UpstreamChoice;
  /** What a job's inputs should carry for this upstream. */
  inputsFor(assignment: UpstreamAssignment): "url" | "bytes";
  /** First poll after `firstMs`, then growing by half up to `maxMs`, with jitter. */
  polling(assignment: UpstreamAssignment): { readonly firstMs: number; readonly maxMs: number };
  /** Whether the upstream can look up a job by our reference. */
  canFind(assignment: UpstreamAssignment): boolean;
  /**
   * Submits the job. The failure's `received` says whether it may be submitted elsewhere: `no`, always;
   * `declined`, unless `isRejection`; `unknown`, never before `find` has returned null.
   */
  submit(
    assignment: UpstreamAssignment,
    job: MediaJob,
    signal: AbortSignal,
    attempt?: AttemptKind,
  ): Promise<Submitted>;
  /** Polls once. A failure says nothing about the job: poll again later. */
  getStatus(assignment: UpstreamAssignment, id: string, signal: AbortSignal): Promise<JobStatus>;
  /** Requests cancellation. Null: polling will show the result; also where the provider cannot cancel jobs. */
  cancel(
    assignment: UpstreamAssignment,
    id: string,
    signal: AbortSignal,
  ): Promise<JobStatus | null>;
  /** The upstream's id of a job by our reference; null: it did not receive it. `unknown`: it cannot look it up. */
  find(
    assignment: UpstreamAssignment,
    reference: string,
    signal: AbortSignal,
  ): Promise<string | null | "unknown">;
  fetchOutput(
    assignment: UpstreamAssignment,
    output: UpstreamOutput,
    signal: AbortSignal,
  ): Promise<FetchedOutput>;
  /** The upstream's job id in a provider callback; null where it names none. */
  readCallback(assignment: UpstreamAssignment, body: unknown): Promise<string | null>;
}
