import type { Config, Model, Provider, Upstream } from "../platform/config/config.ts";
import type { AdmissionCaller } from "./admission.ts";
import type { JobStatus, MediaJob, Submitted, UpstreamOutput } from "./media_adapter.ts";

/** An upstream that may be asked now, or when to ask again; null: each was tried. */
export type UpstreamChoice =
  | { readonly upstream: Upstream; readonly provider: Provider }
  | { readonly upstream: null; readonly retryAfterMs: number | null };

/** A result's bytes, as they come. Whoever has it reads it to its end or cancels it. */
export interface FetchedOutput {
  readonly body: ReadableStream<Uint8Array>;
  /** What the provider calls them; judge by content. */
  readonly mimeType: string | null;
}

/** Where a job is. `upstream` is one of the model's, in the same plan. */
export interface UpstreamAssignment {
  readonly config: Config;
  readonly model: Model;
  readonly upstream: Upstream;
}

/**
 * Calls to upstreams that make files. Nothing here waits, repeats or remembers: each verb is one
 * exchange (or a short fixed row of them) with a deadline, and throws `UpstreamFailure`.
 */
export interface MediaCalls {
  /**
   * Picks an upstream by priority, weight, health and room; `tried` are names given by `nameOf`. The
   * `asker`, here and in `submit`, is whom the circuit breaker may keep out.
   */
  choose(
    config: Config,
    model: Model,
    tried: readonly string[],
    asker?: AdmissionCaller,
  ): UpstreamChoice;
  /** What a job's inputs should carry for this upstream. */
  inputsFor(assignment: UpstreamAssignment): "url" | "bytes";
  /** First look after `firstMs`, then growing by half up to `maxMs`, with jitter. */
  polling(assignment: UpstreamAssignment): { readonly firstMs: number; readonly maxMs: number };
  /**
   * Hands the job over. The failure's `sent` says whether it may be tried elsewhere: `no`, always;
   * `refused`, unless `isRejection`; `maybe`, never, before `find` has said that nobody has it. One that
   * `foundNoPlace` was not even tried.
   */
  submit(
    assignment: UpstreamAssignment,
    job: MediaJob,
    signal: AbortSignal,
    asker?: AdmissionCaller,
  ): Promise<Submitted>;
  /** Looks once how it stands. A failure says nothing of the job: look again later. */
  look(assignment: UpstreamAssignment, id: string, signal: AbortSignal): Promise<JobStatus>;
  /** Asks to stop it. Null: asked, and polling will tell; also where the provider cannot stop jobs. */
  cancel(
    assignment: UpstreamAssignment,
    id: string,
    signal: AbortSignal,
  ): Promise<JobStatus | null>;
  /** The upstream's id of a job by our reference; null: it never got it. `unknown`: it cannot say. */
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
  /** The upstream's id in a provider's call to us; null where it names none. */
  readCallback(assignment: UpstreamAssignment, body: unknown): Promise<string | null>;
}
