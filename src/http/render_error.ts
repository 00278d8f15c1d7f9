import { ApiError } from "../lib/api_error.ts";
import { isStorageUnavailable } from "../platform/database/storage_error.ts";
import { errorStatus } from "./error_status.ts";
import { sendJson } from "./exchange.ts";

const STORAGE_RETRY_SECONDS = 2;

/** Postgres error codes for text that it cannot store. */
const UNSTORABLE = new Set(["22021", "22P05"]);

/** Converts any error into one that a client may see. The original stays in `cause`. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isStorageUnavailable(error)) {
    return new ApiError(
      "storage_unavailable",
      "The storage of the service is temporarily unavailable. Try again in a moment.",
      {
        cause: error,
        retryAfterSeconds: STORAGE_RETRY_SECONDS,
      },
    );
  }
  if (UNSTORABLE.has(String((error as { code?: unknown } | null)?.code))) {
    return new ApiError(
      "invalid_value",
      "A text contains a character that cannot be stored, such as NUL.",
      {
        cause: error,
      },
    );
  }
  return new ApiError(
    "internal_error",
    "Internal error. Try again; if it persists, report the request id.",
    {
      cause: error,
    },
  );
}

/** The error as clients see it, also as an event in the middle of a stream. */
export function errorBody(apiError: ApiError, requestId: string) {
  const { message, type, param, code, detail } = apiError;
  const error = { message, type, param, code, ...(detail === undefined ? {} : { detail }) };
  return { error, request_id: requestId };
}

/** The error as a response; `dialects/messages/error.ts` has the form of another API. */
export function renderError(apiError: ApiError, requestId: string): Response {
  const body = JSON.stringify(errorBody(apiError, requestId));
  return sendJson(body, errorStatus(apiError), errorHeaders(apiError));
}

export function errorHeaders(apiError: ApiError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (apiError.retryAfterSeconds !== undefined) {
    headers["retry-after"] = String(apiError.retryAfterSeconds);
  }
  if (apiError.kind === "unauthenticated") headers["www-authenticate"] = "Bearer";
  if (apiError.code === "method_not_allowed") headers.allow = String(apiError.cause ?? "");
  return headers;
}
