import { ApiError } from "../lib/api_error.ts";
import { inProcessTransport } from "./adapter.ts";
import type { Admission, AdmissionCaller } from "./admission.ts";
import { chooseUpstream } from "./fallback.ts";
import { exchangeMedia, type MediaExchange } from "./exchange_media.ts";
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
  return {
    choose: (config, model, tried, caller) =>
      chooseUpstream(admission, config, model, { tried, caller }),
    inputsFor: (assignment) => adapterOf(admission, assignment).inputs,
    polling: (assignment) => adapterOf(admission, assignment).polling,
    canFind: (assignment) => adapterOf(admission, assignment).find !== undefined,
    submit: (assignment, job, signal, caller) =>
      submitWithPermit(options, { assignment, job, signal, caller }),
    getStatus: (assignment, id, signal) =>
      callShortly(options, assignment, signal, (exchange, adapter) => poll(adapter, exchange, id)),
    cancel: (assignment, id, signal) =>
      callShortly(
        options,
        assignment,
        signal,
        (exchange, adapter) => cancel(adapter, exchange, id),
      ),
    find: (assignment, reference, signal) =>
      callShortly(
        options,
        assignment,
        signal,
        (exchange, adapter) => find(adapter, exchange, reference),
      ),
    fetchOutput: (assignment, output, signal) =>
      callShortly(options, assignment, signal, (exchange, adapter) =>
        fetchOutput(output, {
          ...exchange,
          keyHeaders: () => adapter.keyHeaders?.(exchange.target) ?? {},
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

function exchangeOf(
  { admission, http1 }: MediaCallsOptions,
  { config, model, upstream }: UpstreamAssignment,
  signal: AbortSignal,
): MediaExchange {
  const provider = config.providers.get(upstream.provider)!;
  const target = admission.targetOf(model, upstream, provider);
  return {
    transport: inProcessTransport(admission.adapterOf(provider), target.baseUrl),
    http1,
    target,
    timeoutMs: upstream.timeoutSeconds * 1000,
    signal,
  };
}

/** Calls other than submissions: a shorter deadline, and only failures are reported. */
async function callShortly<T>(
  options: MediaCallsOptions,
  assignment: UpstreamAssignment,
  signal: AbortSignal,
  call: (exchange: MediaExchange, adapter: MediaAdapter) => Promise<T>,
): Promise<T> {
  const usual = exchangeOf(options, assignment, signal);
  const short = { ...usual, timeoutMs: Math.min(usual.timeoutMs, SHORT_CALL_MS_MAX) };
  try {
    return await call(short, adapterOf(options.admission, assignment));
  } catch (error) {
    if (signal.aborted) throw error;
    const failure = toUpstreamFailure(error);
    options.admission.reportAttempt(assignment.upstream, failure);
    throw failure;
  }
}

interface Submission {
  assignment: UpstreamAssignment;
  job: MediaJob;
  signal: AbortSignal;
  caller: AdmissionCaller | undefined;
}

/** Submits a job if the upstream may be called now, and reports the result to its circuit breaker. */
async function submitWithPermit(
  options: MediaCallsOptions,
  { assignment, job, signal, caller }: Submission,
): Promise<Submitted> {
  const { admission } = options;
  const adapter = adapterOf(admission, assignment);
  const provider = assignment.config.providers.get(assignment.upstream.provider)!;
  const permit = typeof caller === "string"
    ? admission.acquireForJob(assignment.upstream, provider, caller)
    : admission.acquire(assignment.upstream, provider, caller);
  if (permit === null) {
    throw new UpstreamFailure(
      "overloaded",
      "the upstream is at capacity or its circuit breaker is open",
      { received: "no" },
    );
  }
  try {
    const submitted = await submit(adapter, exchangeOf(options, assignment, signal), job);
    permit.release(null);
    return submitted;
  } catch (error) {
    const failure = toUpstreamFailure(error);
    if (signal.aborted || failure.kind === "unable") permit.abandon();
    else permit.release(failure);
    throw failure;
  }
}

async function submit(
  adapter: MediaAdapter,
  exchange: MediaExchange,
  job: MediaJob,
): Promise<Submitted> {
  const { target } = exchange;
  const prepared = [];
  for (const request of await adapter.prepare?.(job, target) ?? []) {
    try {
      prepared.push(await exchangeMedia(exchange, adapter, request));
    } catch (error) {
      // Preparation only: the job itself was not submitted.
      if (!(error instanceof UpstreamFailure) || error.received !== "unknown") throw error;
      const received = error.hasProviderResponse ? "declined" : "no";
      throw new UpstreamFailure(error.kind, error.message, { ...error.options, received });
    }
  }
  const request = await adapter.submit(job, target, prepared);
  const reply = await exchangeMedia(exchange, adapter, request);
  return await readOrFail(() => adapter.readSubmitted(reply, job, target));
}

async function poll(
  adapter: MediaAdapter,
  exchange: MediaExchange,
  id: string,
): Promise<JobStatus> {
  const { target } = exchange;
  const { poll: writePoll, readPolled, result: writeResult, readResult } = adapter;
  if (writePoll === undefined || readPolled === undefined) {
    throw new UpstreamFailure("unable", "jobs of this adapter cannot be polled", {
      received: "no",
    });
  }
  let step: "poll" | "result" = "poll";
  try {
    const reply = await exchangeMedia(exchange, adapter, await writePoll(id, target));
    const polled = await readOrFail(() => readPolled(reply, target, id));
    if (polled.state !== "result") return polled;
    step = "result";
    const result = await exchangeMedia(exchange, adapter, await writeResult!(id, target));
    return await readOrFail(() => readResult!(result, target, id));
  } catch (error) {
    const final = error instanceof UpstreamFailure ? finalStatus(adapter, step, error) : null;
    if (final === null) throw error;
    return final;
  }
}

/** Some providers report a failed job by the status of the poll response. */
function finalStatus(
  { isFinal, fault }: MediaAdapter,
  step: "poll" | "result",
  { options: { status, answer } }: UpstreamFailure,
): JobStatus | null {
  if (status === undefined || isFinal?.(step, status) !== true) return null;
  return { state: "failed", fault: fault(status, answer) };
}

async function cancel(
  adapter: MediaAdapter,
  exchange: MediaExchange,
  id: string,
): Promise<JobStatus | null> {
  const { cancel: writeCancel, readCancelled } = adapter;
  if (writeCancel === undefined) return null;
  const reply = await exchangeMedia(exchange, adapter, await writeCancel(id, exchange.target));
  return await readCancelled?.(reply) ?? null;
}

async function find(
  adapter: MediaAdapter,
  exchange: MediaExchange,
  reference: string,
): Promise<string | null | "unknown"> {
  const { find: writeFind, readFound, isFinal } = adapter;
  if (writeFind === undefined || readFound === undefined) return "unknown";
  try {
    const reply = await exchangeMedia(
      exchange,
      adapter,
      await writeFind(reference, exchange.target),
    );
    return await readOrFail(() => readFound(reply, reference));
  } catch (error) {
    const status = error instanceof UpstreamFailure ? error.options.status : undefined;
    if (status !== undefined && isFinal?.("find", status) === true) return null;
    throw error;
  }
}

async function readOrFail<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new UpstreamFailure("unreadable", "the reply cannot be read", {
      cause,
      received: "unknown",
    });
  }
}

/** An `ApiError` comes from the adapter, which raises it before anything is sent. */
function toUpstreamFailure(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  if (error instanceof ApiError) {
    return new UpstreamFailure("unable", error.message, {
      cause: error,
      param: error.param ?? undefined,
      received: "no",
    });
  }
  return new UpstreamFailure("failed", "the attempt failed", { cause: error, received: "unknown" });
}
