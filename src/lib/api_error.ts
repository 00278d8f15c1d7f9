/**
 * The closed table of everything the API may refuse with. A refusal is raised where the reason is
 * known and rendered in one place (`http/render_error.ts`); its message is public, its cause is ours.
 */
const REFUSALS = {
  invalid_json: [400, "invalid_request_error"],
  missing_field: [400, "invalid_request_error"],
  invalid_value: [400, "invalid_request_error"],
  unknown_field: [400, "invalid_request_error"],
  prompt_too_long: [400, "invalid_request_error"],
  duration_not_allowed: [400, "invalid_request_error"],
  aspect_ratio_not_allowed: [400, "invalid_request_error"],
  capability_not_supported: [400, "invalid_request_error"],
  unsafe_url: [400, "invalid_request_error"],
  file_not_ready: [400, "invalid_request_error"],
  idempotency_key_reused: [400, "invalid_request_error"],
  webhook_required: [400, "invalid_request_error"],
  business_id_required: [400, "invalid_request_error"],
  missing_api_key: [401, "authentication_error"],
  invalid_api_key: [401, "authentication_error"],
  insufficient_balance: [402, "insufficient_quota"],
  unknown_endpoint: [404, "invalid_request_error"],
  task_not_found: [404, "invalid_request_error"],
  file_not_found: [404, "invalid_request_error"],
  not_found: [404, "invalid_request_error"],
  model_unavailable: [404, "model_unavailable"],
  method_not_allowed: [405, "invalid_request_error"],
  request_timeout: [408, "invalid_request_error"],
  payload_too_large: [413, "invalid_request_error"],
  storage_limit_exceeded: [413, "invalid_request_error"],
  unsupported_media_type: [415, "invalid_request_error"],
  rate_limit_exceeded: [429, "rate_limit_error"],
  concurrency_limit_exceeded: [429, "rate_limit_error"],
  internal_error: [500, "api_error"],
  endpoint_not_released: [501, "api_error"],
  upstream_failed: [503, "api_error"],
  upstream_timeout: [503, "api_error"],
  storage_unavailable: [503, "api_error"],
  shutting_down: [503, "api_error"],
  overloaded: [503, "api_error"],
} as const satisfies Record<string, readonly [status: number, type: string]>;

export type ApiErrorCode = keyof typeof REFUSALS;
export type ApiErrorType = (typeof REFUSALS)[ApiErrorCode][1];

export interface ApiErrorOptions {
  /** The field of the request that the refusal is about, as the client wrote it. */
  param?: string;
  /** Differs from the table only where one code has two statuses (`model_unavailable`, `file_not_found`). */
  status?: number;
  /** Seconds after which a retry makes sense; becomes `Retry-After`. */
  retryAfterSeconds?: number;
  /** What really happened. Logged, never sent. */
  cause?: unknown;
  /** More to show an operator, on `/admin` only. */
  detail?: unknown;
}

export class ApiError extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly type: ApiErrorType;
  readonly param: string | null;
  readonly retryAfterSeconds: number | undefined;
  readonly detail: unknown;

  constructor(readonly code: ApiErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const [status, type] = REFUSALS[code];
    this.status = options.status ?? status;
    this.type = type;
    this.param = options.param ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.detail = options.detail;
  }
}

/** Every code with its type and statuses, for the OpenAPI document. */
export function apiErrorTable(): { code: ApiErrorCode; status: number; type: ApiErrorType }[] {
  return (Object.keys(REFUSALS) as ApiErrorCode[]).map((code) => ({
    code,
    status: REFUSALS[code][0],
    type: REFUSALS[code][1],
  }));
}
