import type { OpenRequest } from "../domain/requests/open_request.ts";
import type { ApiError } from "../lib/api_error.ts";
import { describeError, type Log } from "../platform/telemetry/log.ts";
import { UpstreamFailure } from "../upstream/failure.ts";
import type { HttpExchange } from "./exchange.ts";

/** Logs an error that is not the client's, with its cause and the upstreams that were tried. */
export function logFailure(
  log: Log,
  { code, kind, cause, isServerError }: ApiError,
  { requestId, logged }: Pick<HttpExchange, "requestId" | "logged">,
): void {
  if (!isServerError || kind === "not_released" || cause === undefined) return;
  log.error("request failed", {
    request_id: requestId,
    code,
    ...attemptsOf(logged),
    error: describeCause(cause),
  });
}

/** The upstreams that were tried, with what became of each; nothing for a request that reached none. */
function attemptsOf(logged: OpenRequest | null): { attempts?: string[] } {
  if (logged === null || logged.attempts.length === 0) return {};
  return {
    attempts: logged.attempts.map(({ provider, model, outcome }) =>
      `${provider}/${model}: ${outcome}`
    ),
  };
}

/** The text of an upstream may name the provider: it is logged with the attempt, at level debug. */
function describeCause(cause: unknown): string {
  return cause instanceof UpstreamFailure ? `upstream: ${cause.kind}` : describeError(cause);
}
