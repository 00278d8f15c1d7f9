import { timeOfId } from "../../lib/ids.ts";
import type { OpenRequest, RequestTokens } from "./open_request.ts";

/** A client may invent methods of any length. */
const METHOD_MAX = 16;

/** Rows of the log as the SQL function `request_write` takes them. */
export function toRequestRows(requests: readonly OpenRequest[]): string {
  return JSON.stringify(requests.map(toRow));
}

/** Keys without a value are left out: the function reads them as null. */
function toRow(request: OpenRequest) {
  const { tokens, attempts } = request;
  return {
    id: request.id,
    at: timeOfId(request.id),
    account_id: request.account,
    key_id: request.key ?? undefined,
    method: request.method.length <= METHOD_MAX ? request.method : "other",
    endpoint: request.endpoint ?? undefined,
    model: request.model ?? undefined,
    status: request.status,
    error_code: request.errorCode ?? undefined,
    is_stream: request.isStream,
    input_tokens: tokens === null ? undefined : uncachedInput(tokens),
    cached_input_tokens: tokens?.cachedInput,
    output_tokens: tokens === null ? undefined : tokens.output + (tokens.audioOutput ?? 0),
    reasoning_tokens: tokens?.reasoning,
    charge: request.charge ?? undefined,
    duration_ms: Math.round(request.durationMs),
    first_byte_ms: Math.round(request.firstByteMs),
    client_request_id: request.clientRequestId ?? undefined,
    end_user: request.user ?? undefined,
    metadata: request.metadata ?? undefined,
    task_id: request.task ?? undefined,
    attempts: attempts.length === 0 ? undefined : attempts.map(toAttempt),
  };
}

function toAttempt({ provider, model, outcome, durationMs }: OpenRequest["attempts"][number]) {
  return { provider, model, outcome, duration_ms: Math.round(durationMs) };
}

/** The log tells only cached input from the rest. */
function uncachedInput(
  { input, cacheWrite = 0, cacheWrite1h = 0, audioInput = 0 }: RequestTokens,
): number {
  return input + cacheWrite + cacheWrite1h + audioInput;
}
