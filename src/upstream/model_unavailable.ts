import { ApiError } from "../lib/api_error.ts";
import type { Model } from "../platform/config/config.ts";

/** No upstream of the model can be called now. */
export function modelUnavailable({ id }: Model, retryAfterSeconds: number): ApiError {
  return new ApiError(
    "model_unavailable",
    `The model "${id}" is temporarily unavailable. Try again later.`,
    { kind: "unavailable", param: "model", retryAfterSeconds: Math.ceil(retryAfterSeconds) },
  );
}
