import { ApiError } from "../lib/api_error.ts";
import type { FailureKind } from "./failure.ts";

/** Why a job came to nothing, in words that clients may read. */
export function jobError(kind: FailureKind, param?: string): ApiError {
  const named = param === undefined ? {} : { param };
  switch (kind) {
    case "rejected":
      return new ApiError(
        "invalid_value",
        "The model does not accept this request: change the prompt or the inputs.",
        named,
      );
    case "too_long":
      return new ApiError(
        "prompt_too_long",
        "The prompt is longer than this model can take: shorten it.",
        {
          param: "prompt",
        },
      );
    case "unable":
      return new ApiError(
        "capability_not_supported",
        `The model cannot do this${param === undefined ? "" : `: see ${param}`}.`,
        named,
      );
    case "timeout":
      return new ApiError("upstream_timeout", "The model did not answer in time: try again.", {
        retryAfterSeconds: 2,
      });
    default:
      return new ApiError("upstream_failed", "The model failed: try again.", {
        retryAfterSeconds: 2,
      });
  }
}
