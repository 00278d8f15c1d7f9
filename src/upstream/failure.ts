import { RemoteError } from "../lib/remote_error.ts";
import type { UpstreamFault } from "./adapter.ts";

/** `unable`: this upstream does not support what the request asks for; nothing was sent. */
export type FailureKind =
  | UpstreamFault["kind"]
  | "unable"
  | "timeout"
  | "unreachable"
  | "unreadable"
  | "cut";

/**
 * Whether the upstream received the request. `no`: not one byte of it was handed to a connection.
 * `declined`: the upstream received it and answered that it does not process it. `unknown`: anything else;
 * a paid job may be running. Decided by what was done and by the status and error code of the response,
 * never by the text of an error.
 */
export type Received = "no" | "declined" | "unknown";

/** Statuses of proxies and CDNs in front of a provider: the request may still reach the provider. */
const LOST_BEHIND_PROXY = new Set([502, 504, 520, 522, 524]);

/**
 * What a non-2xx response proves. Providers answer 500 and 503 also for jobs that they have started: a 5xx
 * counts as declined only with an error code that the provider's rules list.
 */
export function receivedByStatus(status: number, isNamedRejection: boolean): Received {
  if (status < 500) return status === 408 || status === 499 ? "unknown" : "declined";
  return isNamedRejection ? "declined" : "unknown";
}

/** A call to an upstream failed. The provider's own text stays in `cause` and in our log. */
export class UpstreamFailure extends RemoteError {
  override readonly name = "UpstreamFailure";

  constructor(
    readonly kind: FailureKind,
    message: string,
    readonly options: {
      cause?: unknown;
      param?: string | undefined;
      retryAfterSeconds?: number | undefined;
      /** HTTP status of the response, if there was one. */
      status?: number | undefined;
      /** Response body, for adapters that read it again. Never leaves this folder. */
      answer?: unknown;
      received?: Received | undefined;
    } = {},
  ) {
    super(message, { cause: options.cause });
  }

  get received(): Received {
    return this.options.received ?? "unknown";
  }

  /** The provider itself responded, so it received the whole request. */
  get hasProviderResponse(): boolean {
    const { status } = this.options;
    return this.kind === "unreadable" || status !== undefined && !LOST_BEHIND_PROXY.has(status);
  }

  /** No attempt was made: the upstream is at capacity, or its circuit breaker is open. */
  get wasNotAttempted(): boolean {
    return this.kind === "overloaded" && this.received === "no";
  }

  /** The request itself is invalid: no other upstream would accept it. */
  get isRejection(): boolean {
    return this.kind === "rejected" || this.kind === "too_long";
  }
}

/**
 * What a failure means for the circuit breaker. `outage`: the upstream fails for every account: it is
 * unreachable or rejects our key. `overload`: it reports too much load or asks for a pause; a single request
 * above the tokens per minute gets the same response. `request`: server errors, timeouts and broken responses,
 * which a particular request can provoke. `client`: an error status about the request, which says nothing
 * about the upstream. `none`: the upstream works.
 */
export type Cause = "none" | "outage" | "overload" | "request" | "client";

export function causeOf(failure: UpstreamFailure): Cause {
  const { kind, received, isRejection, options: { status, retryAfterSeconds } } = failure;
  if (isRejection) return "none";
  if (status !== undefined && status >= 400 && status < 500 && !OWN_STATUSES.has(status)) {
    return "client";
  }
  if (kind === "unreachable" && received === "no") return "outage";
  // Firewalls and moderation answer 403 to a prompt, and 402 may be about a single expensive request.
  if (kind === "unauthorized" && status !== 402 && status !== 403) return "outage";
  const isOverload = kind === "rate_limited" || kind === "overloaded" ||
    retryAfterSeconds !== undefined;
  return isOverload ? "overload" : "request";
}

/** Statuses below 500 that can be about our key, our balance at the provider, time or rate. */
const OWN_STATUSES = new Set([401, 402, 403, 408, 425, 429, 498]);
