import type { ApiError, ApiErrorKind } from "../../../lib/api_error.ts";
import type { Config } from "../../../platform/config/config.ts";
import { errorStatus } from "../../error_status.ts";
import { sendJson } from "../../exchange.ts";
import { errorHeaders } from "../../render_error.ts";

/** Anthropic's types of errors. Clients of its SDKs decide by them and by the status. */
const TYPES: Readonly<Record<ApiErrorKind, string>> = {
  invalid_request: "invalid_request_error",
  unauthenticated: "authentication_error",
  insufficient_funds: "billing_error",
  forbidden: "permission_error",
  not_found: "not_found_error",
  method_not_allowed: "invalid_request_error",
  request_timeout: "timeout_error",
  conflict: "invalid_request_error",
  too_large: "request_too_large",
  unsupported_media_type: "invalid_request_error",
  rate_limited: "rate_limit_error",
  internal: "api_error",
  not_released: "api_error",
  unavailable: "overloaded_error",
};
/** Anthropic's own status of an overload; clients wait and repeat. */
const OVERLOADED = 529;
const TIMED_OUT = 504;

/** Whether a path belongs to the Messages API of a configuration, whose clients read Anthropic's errors. */
export function isMessagesPath({ routes }: Pick<Config, "routes">, path: string): boolean {
  const route = routes.find(({ operation }) => operation === "messages");
  const base = `/v1${route?.path}`;
  return route !== undefined && (path === base || path.startsWith(`${base}/`));
}

/** The error as clients of the Messages API see it, also as an event in the middle of a stream. */
export function messagesErrorBody(apiError: ApiError, requestId: string) {
  const { message, param, code } = apiError;
  return {
    type: "error",
    error: { type: typeOf(apiError), message, param, code },
    request_id: requestId,
  };
}

export function renderMessagesError(apiError: ApiError, requestId: string): Response {
  const body = JSON.stringify(messagesErrorBody(apiError, requestId));
  const headers = { ...errorHeaders(apiError), "request-id": requestId };
  return sendJson(body, statusOf(apiError), headers);
}

function typeOf({ kind, code }: ApiError): string {
  if (code === "upstream_timeout") return "timeout_error";
  return code === "upstream_failed" ? "api_error" : TYPES[kind];
}

function statusOf(apiError: ApiError): number {
  if (apiError.kind !== "unavailable") return errorStatus(apiError);
  if (apiError.code === "upstream_timeout") return TIMED_OUT;
  return apiError.code === "upstream_failed" ? 500 : OVERLOADED;
}
