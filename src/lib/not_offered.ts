import { ApiError, type ApiErrorCode } from "./api_error.ts";

/** The refusal of a value that is not among those a model offers. */
export function notOffered(
  model: { readonly id: string },
  param: string,
  offered: readonly unknown[],
  code: ApiErrorCode = "invalid_value",
): ApiError {
  const words = offered.length === 1 ? "can only be" : "must be one of";
  const message = `${param} ${words} ${offered.join(", ")} with ${model.id}.`;
  return new ApiError(code, message, { param });
}
