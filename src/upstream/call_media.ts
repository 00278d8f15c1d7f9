import { ApiError } from "../lib/api_error.ts";
import type { Config, Model } from "../platform/config/config.ts";
import { transportTo } from "./adapter.ts";
import { type Admission, type AdmissionCaller, upstreamName } from "./admission.ts";
import { attemptOrder } from "./choose.ts";
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
import type { MediaCalls, UpstreamAssignment, UpstreamChoice } from "./media_calls.ts";

export type { MediaCalls } from "./media_calls.ts";

export interface MediaCallsOptions {
  admission: Admission;
  /** Fetches from addresses that providers name. */
  fetchSafely: FetchSafely;
  /** After so long without a byte of a result its download has failed. */
  silenceMs: number;
  /** Carries submissions; null where everything is for `fetch`. */
  http1: Http1Client | null;
}

/** Long enough for a look, short enough that a silent provider does not keep a worker. */
const LOOK_MS_MAX = 30_000;
const FULL_RETRY_MS = 1_000;

export function openMediaCalls(options: MediaCallsOptions): MediaCalls {
  const { admission, fetchSafely, silenceMs, http1 } = options;

  function adapterOf({ config, model, upstream }: UpstreamAssignment): MediaAdapter {
    const { media } = admission.adapterOf(config.providers.get(upstream.provider)!);
    const adapter = media?.[model.type as MediaJobType];
    if (adapter !== undefined) return adapter;
    throw new UpstreamFailure("unable", `the adapter makes no ${model.type}`, { received: "no" });
  }

  function exchangeOf(
    { config, model, upstream }: UpstreamAssignment,
    signal: AbortSignal,
  ): MediaExchange {
    const provider = config.providers.get(upstream.provider)!;
    const target = admission.targetOf(model, upstream, provider);
    return {
      transport: transportTo(admission.adapterOf(provider), target.baseUrl),
      http1,
      target,
      timeoutMs: upstream.timeoutSeconds * 1000,
      signal,
    };
  }

  /** For what is not a submission: shorter, and told to nobody when it goes well. */
  async function glance<T>(
    assignment: UpstreamAssignment,
    signal: AbortSignal,
    talk: (exchange: MediaExchange, adapter: MediaAdapter) => Promise<T>,
  ): Promise<T> {
    const usual = exchangeOf(assignment, signal);
    const short = { ...usual, timeoutMs: Math.min(usual.timeoutMs, LOOK_MS_MAX) };
    try {
      return await talk(short, adapterOf(assignment));
    } catch (error) {
      if (signal.aborted) throw error;
      const failure = failureOf(error);
      admission.tell(assignment.upstream, failure);
      throw failure;
    }
  }

  return {
    choose: (config, model, tried, asker) => choose(admission, config, model, tried, asker),
    inputsFor: (assignment) => adapterOf(assignment).inputs,
    polling: (assignment) => adapterOf(assignment).polling,

    async submit(assignment, job, signal, asker) {
      const adapter = adapterOf(assignment);
      const provider = assignment.config.providers.get(assignment.upstream.provider)!;
      const permit = typeof asker === "string"
        ? admission.enterJob(assignment.upstream, provider, asker)
        : admission.enter(assignment.upstream, provider, asker);
      if (permit === null) {
        throw new UpstreamFailure("overloaded", "no place is free", { received: "no" });
      }
      try {
        const submitted = await submit(adapter, exchangeOf(assignment, signal), job);
        permit.end(null);
        return submitted;
      } catch (error) {
        const failure = failureOf(error);
        if (signal.aborted || failure.kind === "unable") permit.abandon();
        else permit.end(failure);
        throw failure;
      }
    },

    look: (assignment, id, signal) =>
      glance(assignment, signal, (talk, adapter) => look(adapter, talk, id)),

    cancel: (assignment, id, signal) =>
      glance(assignment, signal, async (talk, adapter) => {
        const { cancel, readCancelled } = adapter;
        if (cancel === undefined) return null;
        const reply = await exchangeMedia(talk, adapter, await cancel(id, talk.target));
        return await readCancelled?.(reply) ?? null;
      }),

    find: (assignment, reference, signal) =>
      glance(assignment, signal, (talk, adapter) => find(adapter, talk, reference)),

    fetchOutput: (assignment, output, signal) =>
      glance(assignment, signal, (talk, adapter) =>
        fetchOutput(output, {
          ...talk,
          keyHeaders: () => adapter.keyHeaders?.(talk.target) ?? {},
          fetchSafely,
          silenceMs,
          allowPrivate: assignment.config.outbound.allowPrivate,
        })),

    readCallback: async (assignment, body) =>
      await adapterOf(assignment).readCallback?.(body) ?? null,
  };
}

function choose(
  admission: Admission,
  config: Config,
  model: Model,
  tried: readonly string[],
  asker?: AdmissionCaller,
): UpstreamChoice {
  const left = model.upstreams.filter((upstream) => !tried.includes(upstreamName(upstream)));
  if (left.length === 0) return { upstream: null, retryAfterMs: null };
  const order = attemptOrder(left);
  // One that is well is better than one that may be.
  const upstream = order.find((one) => admission.hasRoom(one, config)) ??
    order.find((one) => admission.hasRoom(one, config, asker));
  if (upstream !== undefined) {
    return { upstream, provider: config.providers.get(upstream.provider)! };
  }
  const restsMs = admission.secondsUntil(left) * 1000;
  return { upstream: null, retryAfterMs: Math.max(FULL_RETRY_MS, restsMs) };
}

async function submit(
  adapter: MediaAdapter,
  talk: MediaExchange,
  job: MediaJob,
): Promise<Submitted> {
  const { target } = talk;
  const prepared = [];
  for (const request of await adapter.prepare?.(job, target) ?? []) {
    try {
      prepared.push(await exchangeMedia(talk, adapter, request));
    } catch (error) {
      // Whatever became of it, the job itself was not handed over.
      if (!(error instanceof UpstreamFailure) || error.received !== "unknown") throw error;
      const received = error.hasProviderResponse ? "declined" : "no";
      throw new UpstreamFailure(error.kind, error.message, { ...error.options, received });
    }
  }
  const request = await adapter.submit(job, target, prepared);
  const reply = await exchangeMedia(talk, adapter, request);
  return await readable(() => adapter.readSubmitted(reply, job, target));
}

async function look(adapter: MediaAdapter, talk: MediaExchange, id: string): Promise<JobStatus> {
  const { target } = talk;
  const { poll, readPolled, result, readResult } = adapter;
  if (poll === undefined || readPolled === undefined) {
    throw new UpstreamFailure("unable", "jobs of this adapter are not looked at", {
      received: "no",
    });
  }
  let step: "poll" | "result" = "poll";
  try {
    const reply = await exchangeMedia(talk, adapter, await poll(id, target));
    const seen = await readable(() => readPolled(reply, target, id));
    if (seen.state !== "result") return seen;
    step = "result";
    const made = await exchangeMedia(talk, adapter, await result!(id, target));
    return await readable(() => readResult!(made, target, id));
  } catch (error) {
    const end = error instanceof UpstreamFailure ? endOf(adapter, step, error) : null;
    if (end === null) throw error;
    return end;
  }
}

/** Some providers answer for a job that failed with the status that its failure has. */
function endOf(
  { isFinal, fault }: MediaAdapter,
  step: "poll" | "result",
  { options: { status, answer } }: UpstreamFailure,
): JobStatus | null {
  if (status === undefined || isFinal?.(step, status) !== true) return null;
  return { state: "failed", fault: fault(status, answer) };
}

async function find(
  adapter: MediaAdapter,
  talk: MediaExchange,
  reference: string,
): Promise<string | null | "unknown"> {
  const { find, readFound, isFinal } = adapter;
  if (find === undefined || readFound === undefined) return "unknown";
  try {
    const reply = await exchangeMedia(talk, adapter, await find(reference, talk.target));
    return await readable(() => readFound(reply, reference));
  } catch (error) {
    const status = error instanceof UpstreamFailure ? error.options.status : undefined;
    if (status !== undefined && isFinal?.("find", status) === true) return null;
    throw error;
  }
}

async function readable<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new UpstreamFailure("unreadable", "the reply cannot be read", {
      cause,
      received: "unknown",
    });
  }
}

/** A refusal is the adapter's own, raised before anything was sent. */
function failureOf(error: unknown): UpstreamFailure {
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
