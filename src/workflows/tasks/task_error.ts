import { ApiError, type ApiErrorCode } from "../../lib/api_error.ts";
import { RETRY_SECONDS } from "../../upstream/job_error.ts";
import type { TaskRow } from "./task.ts";

/** Why a task has no results, as the error of a request that waited for them. */
export function taskError(
  { error_code, error_message }: Pick<TaskRow, "error_code" | "error_message">,
): ApiError {
  const code = (error_code ?? "upstream_failed") as ApiErrorCode;
  const message = error_message ?? "The task was cancelled.";
  const error = new ApiError(code, message);
  return error.isServerError
    ? new ApiError(code, message, { retryAfterSeconds: RETRY_SECONDS })
    : error;
}
