import type { Span } from "../platform/tracing/span.ts";
import { parseTraceparent } from "../platform/tracing/trace_context.ts";
import type { Tracer } from "../platform/tracing/tracer.ts";
import type { HttpExchange } from "./exchange.ts";

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const PATH_CHARACTERS_MAX = 200;

/** The span of a request, in the trace of its client if it names one. The query stays out: it may hold anything. */
export function startRequestSpan(
  tracer: Tracer | null,
  { method, headers }: Pick<Request, "method" | "headers">,
  { requestId, path, startedAt }: Pick<HttpExchange, "requestId" | "path" | "startedAt">,
): Span | null {
  if (tracer === null) return null;
  const parent = parseTraceparent(headers.get("traceparent"), headers.get("tracestate"));
  const known = METHODS.has(method) ? method : "_OTHER";
  return tracer.start(known, parent, {
    kind: "server",
    startedAt,
    attributes: {
      "http.request.method": known,
      "url.path": path.slice(0, PATH_CHARACTERS_MAX),
      "tollgate.request.id": requestId,
    },
  });
}

/** The response begins. The span of a request that is in the request log ends with that. */
export function endRequestSpan(exchange: HttpExchange, status: number): void {
  const { span, path, route, caller, errorCode } = exchange;
  if (span === null) return;
  if (route !== "unknown") {
    // Routes of the API are configured without the version.
    const fullRoute = path.startsWith("/v1/") ? `/v1${route}` : route;
    span.name = `${span.name} ${fullRoute}`;
    span.set({ "http.route": fullRoute });
  }
  span.set({ "http.response.status_code": status });
  if (caller !== null) span.set({ "tollgate.account.id": caller.account });
  if (errorCode !== null) span.set({ "tollgate.error.code": errorCode });
  if (status >= 500) span.fail(errorCode ?? String(status));
  if (exchange.logged === null) span.end();
}
