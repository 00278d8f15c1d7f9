import { ApiError } from "../lib/api_error.ts";
import type { Permit } from "./admission.ts";
import { UpstreamFailure } from "./failure.ts";

/** The failure of an attempt, after its permit has ended with it. */
export function endAttempt(permit: Permit, error: unknown, signal: AbortSignal): UpstreamFailure {
  const failure = toUpstreamFailure(error);
  if (signal.aborted || failure.kind === "unable") permit.abandon();
  else permit.release(failure);
  return failure;
}

/** An `ApiError` comes from the adapter, which raises it before anything is sent. */
export function toUpstreamFailure(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  if (error instanceof ApiError) {
    return new UpstreamFailure("unable", error.message, {
      cause: error,
      param: error.param ?? undefined,
      received: "no",
    });
  }
  return new UpstreamFailure("failed", "the attempt failed", { cause: error });
}
