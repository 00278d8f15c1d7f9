/** What went wrong, for code that decides by it. `http/error_status.ts` gives each kind its HTTP status. */
export type ApiErrorKind =
  | "invalid_request"
  | "unauthenticated"
  | "insufficient_funds"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "request_timeout"
  | "conflict"
  | "too_large"
  | "unsupported_media_type"
  | "rate_limited"
  | "internal"
  | "not_released"
  | "unavailable";

/** Every error code of the API, with its kind and the `type` that clients see. */
const CODES = {
  invalid_json: ["invalid_request", "invalid_request_error"],
  missing_field: ["invalid_request", "invalid_request_error"],
  invalid_value: ["invalid_request", "invalid_request_error"],
  unknown_field: ["invalid_request", "invalid_request_error"],
  prompt_too_long: ["invalid_request", "invalid_request_error"],
  duration_not_allowed: ["invalid_request", "invalid_request_error"],
  aspect_ratio_not_allowed: ["invalid_request", "invalid_request_error"],
  capability_not_supported: ["invalid_request", "invalid_request_error"],
  unsafe_url: ["invalid_request", "invalid_request_error"],
  file_not_ready: ["invalid_request", "invalid_request_error"],
  idempotency_key_reused: ["invalid_request", "invalid_request_error"],
  idempotency_in_progress: ["conflict", "invalid_request_error"],
  webhook_required: ["invalid_request", "invalid_request_error"],
  business_id_required: ["invalid_request", "invalid_request_error"],
  missing_api_key: ["unauthenticated", "authentication_error"],
  invalid_api_key: ["unauthenticated", "authentication_error"],
  insufficient_balance: ["insufficient_funds", "insufficient_quota"],
  key_budget_exceeded: ["insufficient_funds", "insufficient_quota"],
  api_key_expired: ["unauthenticated", "authentication_error"],
  ip_not_allowed: ["forbidden", "permission_error"],
  account_suspended: ["forbidden", "permission_error"],
  insufficient_scope: ["forbidden", "permission_error"],
  unknown_endpoint: ["not_found", "invalid_request_error"],
  response_not_found: ["not_found", "invalid_request_error"],
  task_not_found: ["not_found", "invalid_request_error"],
  file_not_found: ["not_found", "invalid_request_error"],
  not_found: ["not_found", "invalid_request_error"],
  model_unavailable: ["not_found", "model_unavailable"],
  method_not_allowed: ["method_not_allowed", "invalid_request_error"],
  request_timeout: ["request_timeout", "invalid_request_error"],
  payload_too_large: ["too_large", "invalid_request_error"],
  storage_limit_exceeded: ["too_large", "invalid_request_error"],
  unsupported_media_type: ["unsupported_media_type", "invalid_request_error"],
  rate_limit_exceeded: ["rate_limited", "rate_limit_error"],
  concurrency_limit_exceeded: ["rate_limited", "rate_limit_error"],
  internal_error: ["internal", "api_error"],
  endpoint_not_released: ["not_released", "api_error"],
  upstream_failed: ["unavailable", "api_error"],
  upstream_timeout: ["unavailable", "api_error"],
  storage_unavailable: ["unavailable", "api_error"],
  shutting_down: ["unavailable", "api_error"],
  overloaded: ["unavailable", "api_error"],
} as const satisfies Record<string, readonly [kind: ApiErrorKind, type: string]>;

export type ApiErrorCode = keyof typeof CODES;
export type ApiErrorType = (typeof CODES)[ApiErrorCode][1];

export interface ApiErrorOptions {
  /** The field of the request that the error is about, as the client wrote it. */
  param?: string;
  /** Differs from the table where one code has two kinds: `file_not_found` of a file that a body names, say. */
  kind?: ApiErrorKind;
  /** Seconds after which a retry makes sense; becomes `Retry-After`. */
  retryAfterSeconds?: number;
  /** What really happened. Logged, never sent. */
  cause?: unknown;
  /** More for the operator, on `/admin` only. */
  detail?: unknown;
}

/**
 * An error that a client may see. Raised where the reason is known, rendered in one place
 * (`http/render_error.ts`). The message is public; the cause is logged and never sent.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly kind: ApiErrorKind;
  readonly type: ApiErrorType;
  readonly param: string | null;
  readonly retryAfterSeconds: number | undefined;
  readonly detail: unknown;

  constructor(readonly code: ApiErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const [kind, type] = CODES[code];
    this.kind = options.kind ?? kind;
    this.type = type;
    this.param = options.param ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.detail = options.detail;
  }
  /** The service failed, not the request: repeating it may succeed. */
  get isServerError(): boolean {
    return this.kind === "internal" || this.kind === "unavailable" || this.kind === "not_released";
  }
}

/** Every code with its kind and type, for documentation. */
export function apiErrorCodes(): { code: ApiErrorCode; kind: ApiErrorKind; type: ApiErrorType }[] {
  return (Object.keys(CODES) as ApiErrorCode[]).map((code) => {
    const [kind, type] = CODES[code];
    return { code, kind, type };
  });
}
