import { Refusal } from "../base/refusal.ts";
import { isStorageDown } from "../store/storage_error.ts";
import { sendJson } from "./exchange.ts";

const STORAGE_RETRY_SECONDS = 2;

/** Whatever was thrown, as the refusal a client may see. What really happened stays in `cause`. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (isStorageDown(error)) {
    return new Refusal(
      "storage_unavailable",
      "The service cannot reach its storage: try again in a moment.",
      {
        cause: error,
        retryAfterSeconds: STORAGE_RETRY_SECONDS,
      },
    );
  }
  return new Refusal(
    "internal_error",
    "Something went wrong on our side: try again, and report the request id.",
    {
      cause: error,
    },
  );
}

/** The one place where a refusal becomes a response. */
export function renderError(refusal: Refusal, requestId: string): Response {
  const body = {
    error: {
      message: refusal.message,
      type: refusal.type,
      param: refusal.param,
      code: refusal.code,
      ...(refusal.detail === undefined ? {} : { detail: refusal.detail }),
    },
    request_id: requestId,
  };
  const headers: Record<string, string> = {};
  if (refusal.retryAfterSeconds !== undefined) {
    headers["retry-after"] = String(refusal.retryAfterSeconds);
  }
  if (refusal.status === 401) headers["www-authenticate"] = "Bearer";
  if (refusal.code === "method_not_allowed") headers.allow = String(refusal.cause ?? "");
  return sendJson(JSON.stringify(body), refusal.status, headers);
}
