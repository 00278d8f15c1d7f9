import { RemoteError } from "../lib/remote_error.ts";
import type { UpstreamFault } from "./adapter.ts";

/** `unable`: this upstream cannot be asked for that; nothing was sent. */
export type FailureKind =
  | UpstreamFault["kind"]
  | "unable"
  | "timeout"
  | "unreachable"
  | "unreadable"
  | "cut";

/**
 * Whether the upstream got the request. `no`: certainly not. `refused`: it did, and said no. `maybe`: what
 * it answered is lost, and what it does with the request is unknown.
 */
export type Sent = "no" | "refused" | "maybe";

/** Said by something between us and the provider, behind which the request may still be on its way. */
const LOST_BEHIND_PROXY = new Set([502, 504, 520, 522, 524]);

/**
 * Whether an answer that is no 2xx is certain to have refused the request. Providers answer 500 and 503 to
 * jobs that they have begun: only what the provider's own rules name as a refusal counts as one.
 */
export function sentByStatus(status: number, isNamedRefusal: boolean): Sent {
  if (status < 500) return status === 408 || status === 499 ? "maybe" : "refused";
  return isNamedRefusal ? "refused" : "maybe";
}

/** An upstream did not answer as it should. What it said stays in `cause` and in our log. */
export class UpstreamFailure extends RemoteError {
  override readonly name = "UpstreamFailure";

  constructor(
    readonly kind: FailureKind,
    message: string,
    readonly options: {
      cause?: unknown;
      param?: string | undefined;
      retryAfterSeconds?: number | undefined;
      /** Of the answer, where there was one. */
      status?: number | undefined;
      /** What it said, where it is to be read again. Never leaves this folder. */
      answer?: unknown;
      sent?: Sent | undefined;
    } = {},
  ) {
    super(message, { cause: options.cause });
  }

  get sent(): Sent {
    return this.options.sent ?? "maybe";
  }

  /** The provider itself has answered: whatever it does with the request, it has got all of it. */
  get isAnswered(): boolean {
    const { status } = this.options;
    return this.kind === "unreadable" || status !== undefined && !LOST_BEHIND_PROXY.has(status);
  }

  /** Nobody was asked: the upstream was full, or rests. An upstream that says so itself has got it. */
  get foundNoPlace(): boolean {
    return this.kind === "overloaded" && this.sent === "no";
  }

  /** The request itself is at fault: no other upstream would take it. */
  get isRejection(): boolean {
    return this.kind === "rejected" || this.kind === "too_long";
  }
}

/**
 * Whose failure it is, for the circuit breaker. `outage`: the upstream's, for every account: it cannot be
 * reached, or refuses our key. `overload`: it says that it has too much to do, or asks for a pause; a single
 * request that exceeds the tokens per minute gets the same answer. `request`: perhaps the request's: errors
 * of the server, silence and broken answers can be provoked by what is asked. `client`: an error status that
 * blames the request, in whatever words; it says nothing of the upstream. `none`: it works.
 */
export type Cause = "none" | "outage" | "overload" | "request" | "client";

export function causeOf(failure: UpstreamFailure): Cause {
  const { kind, sent, isRejection, options: { status, retryAfterSeconds } } = failure;
  if (isRejection) return "none";
  if (status !== undefined && status >= 400 && status < 500 && !OWN_STATUSES.has(status)) {
    return "client";
  }
  if (kind === "unreachable" && sent === "no") return "outage";
  // Firewalls and moderation answer 403 to a text, and 402 may be about a request that is too dear.
  if (kind === "unauthorized" && status !== 402 && status !== 403) return "outage";
  const isOverload = kind === "rate_limited" || kind === "overloaded" ||
    retryAfterSeconds !== undefined;
  return isOverload ? "overload" : "request";
}

/** Statuses below 500 that need not be about the request: the key, the money behind it, time, the rate. */
const OWN_STATUSES = new Set([401, 402, 403, 408, 425, 429, 498]);

/** Longer than this no upstream is believed to know when it will be well. */
const RETRY_AFTER_SECONDS_MAX = 3600;

/** `Retry-After` in seconds, at most an hour; a date is counted from now. */
export function retryAfter(headers: Pick<Headers, "get">): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(text)
    ? Number(text)
    : (Date.parse(text) - Date.now()) / 1000;
  if (Number.isNaN(seconds) || seconds < 0) return undefined;
  return Math.min(Math.ceil(seconds), RETRY_AFTER_SECONDS_MAX);
}
