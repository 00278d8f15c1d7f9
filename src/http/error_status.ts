import {
  type ApiError,
  type ApiErrorCode,
  apiErrorCodes,
  type ApiErrorKind,
  type ApiErrorType,
} from "../lib/api_error.ts";

const STATUSES: Readonly<Record<ApiErrorKind, number>> = {
  invalid_request: 400,
  unauthenticated: 401,
  insufficient_funds: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  not_released: 501,
  unavailable: 503,
};

/** The HTTP status of an error. */
export function errorStatus({ kind }: Pick<ApiError, "kind">): number {
  return STATUSES[kind];
}

/** Every error code with its status and type, for the OpenAPI document and the docs. */
export function apiErrorTable(): { code: ApiErrorCode; status: number; type: ApiErrorType }[] {
  return apiErrorCodes().map(({ code, kind, type }) => ({ code, status: STATUSES[kind], type }));
}
