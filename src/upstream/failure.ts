import type { Fault } from "./adapter.ts";

/** An upstream did not answer as it should. What it said stays in `cause` and in our log. */
export class UpstreamFailure extends Error {
  override readonly name = "UpstreamFailure";

  constructor(
    readonly kind: Fault["kind"] | "timeout" | "unreachable" | "unreadable" | "cut",
    message: string,
    readonly options: {
      cause?: unknown;
      param?: string | undefined;
      retryAfterSeconds?: number | undefined;
    } = {},
  ) {
    super(message, { cause: options.cause });
  }

  /** The request itself is at fault: no other upstream would take it. */
  get isRejection(): boolean {
    return this.kind === "rejected" || this.kind === "too_long";
  }
}

/** `Retry-After` in seconds; a date is counted from now. */
export function retryAfter(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(text)
    ? Number(text)
    : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds) : undefined;
}
