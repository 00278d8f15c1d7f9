import { ApiError } from "../lib/api_error.ts";
import type { FailureKind } from "./failure.ts";

/** After a failure, where the upstream asks for no other pause. */
export const RETRY_SECONDS = 2;

/** Why a job failed, as clients see it. */
export function jobError(kind: FailureKind, param?: string): ApiError {
  const named = param === undefined ? {} : { param };
  switch (kind) {
    case "rejected":
      return new ApiError(
        "invalid_value",
        "The model rejected this request. Change the prompt or the inputs.",
        named,
      );
    case "too_long":
      return new ApiError(
        "prompt_too_long",
        "The prompt is too long for this model. Shorten it.",
        {
          param: "prompt",
        },
      );
    case "unable":
      return new ApiError(
        "capability_not_supported",
        `The model does not support this request${param === undefined ? "" : `: check ${param}`}.`,
        named,
      );
    case "timeout":
      return new ApiError("upstream_timeout", "The model did not respond in time. Try again.", {
        retryAfterSeconds: RETRY_SECONDS,
      });
    default:
      return new ApiError("upstream_failed", "The model failed. Try again.", {
        retryAfterSeconds: RETRY_SECONDS,
      });
  }
}
