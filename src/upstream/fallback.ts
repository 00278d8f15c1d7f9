import type { Config, Model, Provider, Upstream } from "../platform/config/config.ts";
import { type Admission, type AttemptKind, upstreamName } from "./admission.ts";
import type { FailureKind, UpstreamFailure } from "./failure.ts";
import { orderUpstreams } from "./order_upstreams.ts";

/**
 * Whether a call whose outcome is unknown may be made again. `repeatable`: a chat, of which the client gets one
 * answer only. `once`: a job that is paid for each time an upstream receives it.
 */
export type Repetition = "repeatable" | "once";

/**
 * What follows from a failed attempt. `fail`: no other upstream would accept the request. `look_up`: the upstream may
 * work on it, so it is sent nowhere else before a lookup proves the contrary. `next`: another upstream is tried.
 * `wait`: the upstream was not called, for lack of a slot or because its circuit breaker is open.
 */
export type FallbackDecision = "fail" | "look_up" | "next" | "wait";

/** The one rule of fallback, for requests that wait for an answer and for jobs that outlive the process. */
export function decideFallback(
  failure: UpstreamFailure,
  repetition: Repetition,
): FallbackDecision {
  if (repetition === "once" && failure.received === "unknown") return "look_up";
  if (failure.isRejection) return "fail";
  return failure.wasNotAttempted ? "wait" : "next";
}

/** An upstream that may be called now, or when to try again; null: every upstream was tried. */
export type UpstreamChoice =
  | { readonly upstream: Upstream; readonly provider: Provider }
  | { readonly upstream: null; readonly retryAfterMs: number | null };

export interface ChoiceState {
  /** Names from `upstreamName`. */
  readonly tried: readonly string[];
  readonly attempt: AttemptKind;
}

const AT_CAPACITY_RETRY_MS = 1_000;

/** The next upstream for a job: by priority, weight, health and capacity. */
export function chooseUpstream(
  admission: Admission,
  config: Config,
  model: Model,
  { tried, attempt }: ChoiceState,
): UpstreamChoice {
  const left = model.upstreams.filter((upstream) => !tried.includes(upstreamName(upstream)));
  if (left.length === 0) return { upstream: null, retryAfterMs: null };
  const order = orderUpstreams(left);
  // A closed breaker is preferred to one that makes an exception for this job.
  const upstream = order.find((one) => admission.hasCapacity(one, config)) ??
    order.find((one) => admission.hasCapacity(one, config, attempt));
  if (upstream !== undefined) {
    return { upstream, provider: config.providers.get(upstream.provider)! };
  }
  const openMs = admission.secondsUntilRetry(left) * 1000;
  return { upstream: null, retryAfterMs: Math.max(AT_CAPACITY_RETRY_MS, openMs) };
}

/** Rounds through all upstreams of a model before a job fails. */
const ROUNDS_MAX = 4;
const ROUND_MS = 1_500;
/** Added to the wait of a job for each round in which it failed. */
const FAILED_ROUND_MS = 3_000;

/** When the upstreams are tried again that have all failed a job; null: never. */
export function untilNextRoundMs(
  failedRounds: number,
  lastFailure: FailureKind,
  random: () => number = Math.random,
): number | null {
  if (lastFailure === "unable" || failedRounds + 1 >= ROUNDS_MAX) return null;
  return ROUND_MS * 2 ** failedRounds * (0.8 + 0.4 * random());
}

/**
 * How long a job waits for an upstream that cannot be called for `retryAfterMs`. After an outage the first request
 * shows whether the upstream has recovered. Jobs with fewer failures go first: otherwise a few jobs that make it fail
 * would keep it unavailable for all others.
 */
export function untilAvailableMs(failedRounds: number, retryAfterMs: number): number {
  return retryAfterMs + FAILED_ROUND_MS * failedRounds;
}
