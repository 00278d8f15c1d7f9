import { Refusal } from "../lib/api_error.ts";
import type { FailureKind } from "./failure.ts";

/** Why a job came to nothing, in words that clients may read. */
export function jobRefusal(kind: FailureKind, param?: string): Refusal {
  const named = param === undefined ? {} : { param };
  switch (kind) {
    case "rejected":
      return new Refusal(
        "invalid_value",
        "The model does not accept this request: change the prompt or the inputs.",
        named,
      );
    case "too_long":
      return new Refusal(
        "prompt_too_long",
        "The prompt is longer than this model can take: shorten it.",
        {
          param: "prompt",
        },
      );
    case "unable":
      return new Refusal(
        "capability_not_supported",
        `The model cannot do this${param === undefined ? "" : `: see ${param}`}.`,
        named,
      );
    case "timeout":
      return new Refusal("upstream_timeout", "The model did not answer in time: try again.", {
        retryAfterSeconds: 2,
      });
    default:
      return new Refusal("upstream_failed", "The model failed: try again.", {
        retryAfterSeconds: 2,
      });
  }
}
