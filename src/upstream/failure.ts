import { ElsewhereError } from "../base/elsewhere_error.ts";
import type { Fault } from "./adapter.ts";

/** `unable`: this upstream cannot be asked for that; nothing was sent. */
export type FailureKind =
  | Fault["kind"]
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

/** An upstream did not answer as it should. What it said stays in `cause` and in our log. */
export class UpstreamFailure extends ElsewhereError {
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

  /** Nobody was asked: the upstream was full, or rests. An upstream that says so itself has got it. */
  get foundNoPlace(): boolean {
    return this.kind === "overloaded" && this.sent === "no";
  }

  /** The request itself is at fault: no other upstream would take it. */
  get isRejection(): boolean {
    return this.kind === "rejected" || this.kind === "too_long";
  }
}

/** `Retry-After` in seconds; a date is counted from now. */
export function retryAfter(headers: Pick<Headers, "get">): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(text)
    ? Number(text)
    : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds) : undefined;
}
