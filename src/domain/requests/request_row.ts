import { timeOfId } from "../../lib/ids.ts";
import { jsonValue, rowsLiteral, type RowValue } from "../../platform/database/row_literal.ts";
import type { OpenRequest, RequestTokens } from "./open_request.ts";

/** A client may invent methods of any length. */
const METHOD_MAX = 16;

/** Rows of the log, as an array of the SQL type `request_row`. */
export function toRequestRows(requests: readonly OpenRequest[]): string {
  return rowsLiteral(requests.map(toRow));
}

function toRow(request: OpenRequest): RowValue[] {
  const { tokens, attempts } = request;
  return [
    request.id,
    new Date(timeOfId(request.id)!).toISOString(),
    request.account,
    request.key,
    request.method.length <= METHOD_MAX ? request.method : "other",
    request.endpoint,
    request.model,
    request.status,
    request.errorCode,
    request.isStream,
    tokens === null ? null : uncachedInput(tokens),
    tokens?.cachedInput,
    tokens === null ? null : tokens.output + (tokens.audioOutput ?? 0),
    tokens?.reasoning,
    request.charge,
    Math.round(request.durationMs),
    Math.round(request.firstByteMs),
    request.clientRequestId,
    request.user,
    jsonValue(request.metadata),
    request.task,
    attempts.length === 0 ? null : JSON.stringify(attempts.map(toAttemptRow)),
  ];
}

/** An attempt at an upstream as it is stored. */
export interface AttemptRow {
  readonly provider: string;
  readonly model: string;
  readonly outcome: string;
  readonly duration_ms: number;
}

export function toAttemptRow(
  { provider, model, outcome, durationMs }: OpenRequest["attempts"][number],
): AttemptRow {
  return { provider, model, outcome, duration_ms: Math.round(durationMs) };
}

/** The log tells only cached input from the rest. */
function uncachedInput(
  { input, cacheWrite = 0, cacheWrite1h = 0, audioInput = 0 }: RequestTokens,
): number {
  return input + cacheWrite + cacheWrite1h + audioInput;
}
