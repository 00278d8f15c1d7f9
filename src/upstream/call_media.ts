import { inProcessTransport } from "./adapter.ts";
import type { Admission, AttemptKind } from "./admission.ts";
import { endAttempt, toUpstreamFailure } from "./end_attempt.ts";
import { chooseUpstream } from "./fallback.ts";
import { UpstreamFailure } from "./failure.ts";
import { fetchOutput, type FetchSafely } from "./fetch_output.ts";
import type { Http1Client } from "./http1/client.ts";
import type {
  JobStatus,
  MediaAdapter,
  MediaJob,
  MediaJobType,
  Submitted,
} from "./media_adapter.ts";
import type { MediaCalls, UpstreamAssignment } from "./media_calls.ts";
import { exchangeWhole, runOperation, type UpstreamCall } from "./run_operation.ts";
import { tracedMediaCall } from "./trace_media_call.ts";

export type { MediaCalls } from "./media_calls.ts";

export interface MediaCallsOptions {
  admission: Admission;
  /** Fetches from URLs that providers return. */
  fetchSafely: FetchSafely;
  /** A download without a byte for this long has failed. */
  silenceMs: number;
  /** Sends submissions; null where every request goes through `fetch`. */
  http1: Http1Client | null;
}

/** Long enough for a poll, short enough that a silent provider does not block a worker. */
const SHORT_CALL_MS_MAX = 30_000;

export function openMediaCalls(options: MediaCallsOptions): MediaCalls {
  const { admission, fetchSafely, silenceMs } = options;
  const short: ShortCall = (name, assignment, signal, run) =>
    tracedMediaCall(assignment, name, () => callShortly(options, assignment, signal, run));
  return {
    choose: (config, model, tried, attempt = "first") =>
      chooseUpstream(admission, config, model, { tried, attempt }),
    inputsFor: (assignment) => adapterOf(admission, assignment).inputs,
    polling: (assignment) => adapterOf(admission, assignment).polling,
    canFind: (assignment) => adapterOf(admission, assignment).find !== undefined,
    submit: (assignment, job, signal, attempt = "first") =>
      tracedMediaCall(
        assignment,
        "generate_content",
        () => submitWithPermit(options, { assignment, job, signal, attempt }),
      ),
    getStatus: (assignment, id, signal) =>
      short("poll", assignment, signal, (call, adapter) => poll(adapter, call, id)),
    cancel: (assignment, id, signal) =>
      short(
        "cancel",
        assignment,
        signal,
        (call, { cancel }) =>
          cancel === undefined ? Promise.resolve(null) : runOperation(call, cancel, id),
      ),
    find: (assignment, reference, signal) =>
      short(
        "find",
        assignment,
        signal,
        (call, { find }) =>
          find === undefined ? Promise.resolve("unknown") : runOperation(call, find, reference),
      ),
    fetchOutput: (assignment, output, signal) =>
      short("fetch_output", assignment, signal, (call, adapter) =>
        fetchOutput(output, {
          ...call,
          keyHeaders: () => adapter.keyHeaders?.(call.target) ?? {},
          fetchSafely,
          silenceMs,
          allowPrivate: assignment.config.outbound.allowPrivate,
        })),
    readCallback: async (assignment, body) =>
      await adapterOf(admission, assignment).readCallback?.(body) ?? null,
  };
}

function adapterOf(
  admission: Admission,
  { config, model, upstream }: UpstreamAssignment,
): MediaAdapter {
  const { media } = admission.adapterOf(config.providers.get(upstream.provider)!);
  const adapter = media?.[model.type as MediaJobType];
  if (adapter !== undefined) return adapter;
  throw new UpstreamFailure("unable", `the adapter does not support ${model.type}`, {
    received: "no",
  });
}

function callOf(
  { admission, http1 }: MediaCallsOptions,
  assignment: UpstreamAssignment,
  signal: AbortSignal,
): UpstreamCall {
  const { config, model, upstream } = assignment;
  const provider = config.providers.get(upstream.provider)!;
  const target = admission.targetOf(model, upstream, provider);
  return {
    transport: inProcessTransport(admission.adapterOf(provider), target.baseUrl),
    http1,
    acceptsCoded: true,
    faults: adapterOf(admission, assignment),
    target,
    timeoutMs: upstream.timeoutSeconds * 1000,
    signal,
  };
}

/** A call other than a submission, by the name of its span. */
type ShortCall = <T>(
  name: string,
  assignment: UpstreamAssignment,
  signal: AbortSignal,
  run: (call: UpstreamCall, adapter: MediaAdapter) => Promise<T>,
) => Promise<T>;

/** Calls other than submissions: a shorter deadline, and only failures are reported. */
async function callShortly<T>(
  options: MediaCallsOptions,
  assignment: UpstreamAssignment,
  signal: AbortSignal,
  run: (call: UpstreamCall, adapter: MediaAdapter) => Promise<T>,
): Promise<T> {
  try {
    const usual = callOf(options, assignment, signal);
    const short = { ...usual, timeoutMs: Math.min(usual.timeoutMs, SHORT_CALL_MS_MAX) };
    return await run(short, adapterOf(options.admission, assignment));
  } catch (error) {
    if (signal.aborted) throw error;
    const failure = toUpstreamFailure(error);
    options.admission.reportAttempt(assignment.upstream, failure, assignment.subject);
    throw failure;
  }
}

interface Submission {
  assignment: UpstreamAssignment;
  job: MediaJob;
  signal: AbortSignal;
  attempt: AttemptKind;
}

/** Submits a job if the upstream may be called now, and reports the result to its circuit breaker. */
async function submitWithPermit(
  options: MediaCallsOptions,
  { assignment, job, signal, attempt }: Submission,
): Promise<Submitted> {
  const { admission } = options;
  const adapter = adapterOf(admission, assignment);
  const provider = assignment.config.providers.get(assignment.upstream.provider)!;
  const { upstream, subject } = assignment;
  const permit = admission.acquireForJob(upstream, provider, attempt, subject);
  if (permit === null) {
    throw new UpstreamFailure(
      "overloaded",
      "the upstream is at capacity or its circuit breaker is open",
      { received: "no" },
    );
  }
  try {
    const submitted = await submit(adapter, callOf(options, assignment, signal), job);
    permit.release(null);
    return submitted;
  } catch (error) {
    throw endAttempt(permit, error, signal);
  }
}

async function submit(
  adapter: MediaAdapter,
  call: UpstreamCall,
  job: MediaJob,
): Promise<Submitted> {
  const prepared = [];
  for (const request of await adapter.prepare?.(job, call.target) ?? []) {
    try {
      prepared.push(await exchangeWhole(call, request));
    } catch (error) {
      // Preparation only: the job itself was not submitted.
      if (!(error instanceof UpstreamFailure) || error.received !== "unknown") throw error;
      const received = error.hasProviderResponse ? "declined" : "no";
      throw new UpstreamFailure(error.kind, error.message, { ...error.options, received });
    }
  }
  return await runOperation(call, adapter.submit, { job, prepared });
}

async function poll(
  { poll, result }: MediaAdapter,
  call: UpstreamCall,
  id: string,
): Promise<JobStatus> {
  if (poll === undefined) {
    throw new UpstreamFailure("unable", "jobs of this adapter cannot be polled", {
      received: "no",
    });
  }
  const polled = await runOperation(call, poll, id);
  return polled.state === "result" ? await runOperation(call, result!, id) : polled;
}
