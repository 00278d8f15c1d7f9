import type { Hono } from "hono";
import type { Caller } from "../domain/accounts/api_key_cache.ts";
import { newId } from "../lib/ids.ts";
import { nextTurn } from "../lib/next_turn.ts";
import { ApiError } from "../lib/api_error.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Config } from "../platform/config/config.ts";
import { CutBody } from "../domain/limits/cut_body.ts";
import type { RequestBodies } from "../domain/limits/request_bodies.ts";
import { closeAfter, isUnfinished } from "../domain/limits/unfinished_bodies.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";
import type { Tracer } from "../platform/tracing/tracer.ts";
import { UpstreamFailure } from "../upstream/failure.ts";
import { isMessagesPath, renderMessagesError } from "./dialects/messages/error.ts";
import type { HealthProbe, Readiness } from "./health.ts";
import type { Env, HttpExchange } from "./exchange.ts";
import { logFailure } from "./log_failure.ts";
import { noteResponse } from "./note_response.ts";
import { renderError, toApiError } from "./render_error.ts";
import { endRequestSpan, startRequestSpan } from "./request_span.ts";
import { healthRoutes } from "./routes/health.ts";
import { hasServerTiming, serverTiming } from "./server_timing.ts";

const HOST = /^[\w.:[\]-]{0,300}$/;
const URL_CHARACTERS_MAX = 16_384;
const AS_GET = { method: "GET" };
/** For the log and the metrics, as in nginx: the client disconnected, so no response is sent. */
const CLIENT_DISCONNECTED = 499;

export interface RequestHandlerDeps {
  configStore: ConfigStore;
  log: Log;
  metrics: Metrics;
  /** Null: no traces. */
  tracer: Tracer | null;
  readiness: Readiness;
  bodies: RequestBodies;
  /** Called for every request when it starts. */
  onRequest?: ((requestId: string, method: string, path: string) => void) | undefined;
  /** Called with the reason when a request failed because the storage is unavailable. */
  onStorageTrouble?: ((error: unknown) => void) | undefined;
}

/**
 * Entry and exit of every request: gives it an id and a configuration, calls the app built from that
 * configuration, adds the headers that every response has, counts it and logs one line.
 */
export class RequestHandler {
  #app: { config: Config; fetch: Hono<Env>["fetch"] } | null = null;
  readonly #drainSignal = new AbortController();
  readonly #probes: ReadonlyMap<string, HealthProbe>;
  #draining = false;
  #inFlight = 0;

  constructor(private readonly deps: RequestHandlerDeps) {
    const { readiness } = deps;
    const probeDeps = { readiness, notReadyReason: () => this.#notReadyReason() };
    this.#probes = new Map(healthRoutes.routes.map(({ path, probe }) => [path, probe(probeDeps)]));
  }

  /** New requests go to this app from now on. */
  serve(config: Config, app: Hono<Env>): void {
    this.#app = { config, fetch: app.fetch };
  }

  /** New requests get 503 from now on, so that clients and load balancers use another node. */
  drain(): void {
    this.#draining = true;
    this.#drainSignal.abort();
  }

  /** Aborts when the node drains: requests that wait for a task get its current state. */
  get drainSignal(): AbortSignal {
    return this.#drainSignal.signal;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Requests that arrive in one turn of the event loop are handled together, step by step: each step's code and
   * data are then in the processor's caches, which is most of the cost of a request.
   */
  handle = (request: Request, info: Deno.ServeHandlerInfo): Promise<Response> => {
    const startedAt = performance.now();
    this.#inFlight++;
    return nextTurn().then(() =>
      this.#run(request, { info, caller: null, requestId: newId("req"), startedAt })
    );
  };

  /**
   * Handles a request for a caller who was authenticated by other means than an API key, as part of another
   * request: both have the same id.
   */
  callAsAccount = (
    caller: Caller,
    request: Request,
    { info, requestId }: Pick<HttpExchange, "info" | "requestId">,
  ): Response | Promise<Response> => {
    this.#inFlight++;
    return this.#run(request, { info, caller, requestId, startedAt: performance.now() });
  };

  #run(
    request: Request,
    { requestId, startedAt, info, caller }: Pick<
      HttpExchange,
      "requestId" | "startedAt" | "info" | "caller"
    >,
  ): Response | Promise<Response> {
    const path = pathOf(request.url);
    const exchange: HttpExchange = {
      requestId,
      startedAt,
      info,
      method: request.method,
      path,
      span: this.#isFrequent(path)
        ? null
        : startRequestSpan(this.deps.tracer, request, { requestId, path, startedAt }),
      config: this.#app?.config ?? this.deps.configStore.current,
      route: "unknown",
      clientRequestId: null,
      caller,
      adminCaller: null,
      accountPlan: null,
      logged: null,
      rate: null,
      bodies: this.deps.bodies,
      body: null,
      upstreamMs: 0,
      errorCode: null,
    };
    this.deps.onRequest?.(requestId, exchange.method, exchange.path);
    try {
      const response = this.#dispatch(request, exchange);
      if (response instanceof Promise) {
        return response.then(
          (done) => this.#finish(request, exchange, done),
          (error) =>
            this.#finish(request, exchange, this.#toErrorResponse(error, request, exchange)),
        ).then((done) => isUnfinished(request) ? closeAfter(done) : done);
      }
      return this.#finish(request, exchange, response);
    } catch (error) {
      return this.#finish(request, exchange, this.#toErrorResponse(error, request, exchange));
    }
  }

  /** Why this node accepts no requests now, whatever its parts report. */
  #notReadyReason(): string | null {
    if (this.#draining) return "this node is shutting down";
    return this.#app === null ? "this node is starting" : null;
  }

  /** Probes and metrics are asked for every few seconds: their success is not logged, and they have no traces. */
  #isFrequent(path: string): boolean {
    return path === "/metrics" || this.#probes.has(path);
  }

  #dispatch(request: Request, exchange: HttpExchange): Response | Promise<Response> {
    const { path } = exchange;
    const probe = this.#probes.get(path);
    if (probe !== undefined) {
      exchange.route = path;
      return probe();
    }
    if (request.url.length > URL_CHARACTERS_MAX) {
      throw new ApiError(
        "payload_too_large",
        `The URL is longer than ${URL_CHARACTERS_MAX} characters.`,
      );
    }
    // The URL is built from Host and request target: a Host that contains a path would choose the endpoint.
    if (!HOST.test(request.headers.get("host") ?? "")) {
      throw new ApiError("invalid_value", "The Host header is not a host name.", { param: "Host" });
    }
    if (this.#draining) {
      throw new ApiError("shutting_down", "This node is shutting down. Try again.", {
        retryAfterSeconds: 1,
      });
    }
    if (this.#app === null) {
      throw new ApiError("storage_unavailable", "The service is starting. Try again in a moment.", {
        retryAfterSeconds: 2,
      });
    }
    // Handled as a GET: the server sends its length without the body.
    return this.#app.fetch(
      request.method === "HEAD" ? new Request(request, AS_GET) : request,
      exchange,
    );
  }

  #toErrorResponse(error: unknown, request: Request, exchange: HttpExchange): Response {
    if (isDisconnectError(error, request.signal)) {
      exchange.errorCode = "client_disconnected";
      return new Response(null, { status: CLIENT_DISCONNECTED });
    }
    const apiError = toApiError(error);
    exchange.errorCode = apiError.code;
    this.deps.metrics.apiErrors.inc({ code: apiError.code });
    if (apiError.code === "storage_unavailable") this.deps.onStorageTrouble?.(apiError.cause);
    logFailure(this.deps.log, apiError, exchange);
    return isMessagesPath(exchange.config, exchange.path)
      ? renderMessagesError(apiError, exchange.requestId)
      : renderError(apiError, exchange.requestId);
  }

  #finish(
    request: Request,
    exchange: HttpExchange,
    response: Response,
  ): Response | Promise<Response> {
    this.#inFlight--;
    if (exchange.body?.isKept === false) exchange.body.release();
    const { headers } = response;
    headers.append("x-request-id", exchange.requestId);
    if (exchange.clientRequestId !== null) {
      headers.append("x-client-request-id", exchange.clientRequestId);
    }
    const { rate } = exchange;
    if (rate !== null) {
      headers.append("x-ratelimit-limit", String(rate.limit));
      headers.append("x-ratelimit-remaining", String(rate.remaining));
      headers.append("x-ratelimit-reset", String(rate.resetSeconds));
    }
    const ms = performance.now() - exchange.startedAt;
    const { metrics, log } = this.deps;
    const { path, logged } = exchange;
    if (hasServerTiming(path)) headers.append("server-timing", serverTiming(exchange, ms));
    const sent = logged?.bodies ? noteResponse(response, logged.bodies) : response;
    endRequestSpan(exchange, response.status);
    logged?.respond(response.status, exchange.errorCode, ms);
    metrics.requests.observe(exchange.route, request.method, response.status, ms);
    if (exchange.span !== null) {
      const { route, span: { traceId } } = exchange;
      metrics.requests.rememberTrace(
        { route, method: request.method, status: response.status },
        ms,
        traceId,
      );
    }
    if (this.#isFrequent(path) && response.status < 500) return sent;
    log.request({
      request_id: exchange.requestId,
      method: request.method,
      // The path only: a query may hold anything.
      path: path.length > 200 ? path.slice(0, 200) : path,
      status: response.status,
      ms,
      account: exchange.caller?.account,
      key: exchange.caller?.key,
      client_request_id: exchange.clientRequestId ?? undefined,
      code: exchange.errorCode ?? undefined,
    });
    return sent;
  }
}

/** The path of an absolute URL, without parsing all of it. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  if (start === -1) return "/";
  const end = url.indexOf("?", start);
  return end === -1 ? url.slice(start) : url.slice(start, end);
}

/** How the reading of a body, or a wait for an upstream or for money, ends when the client disconnects. */
function isDisconnectError(error: unknown, { aborted, reason }: AbortSignal): boolean {
  // The signal does not abort while the body is read.
  if (error instanceof CutBody) return true;
  return aborted && (error === reason || error instanceof UpstreamFailure ||
    (error instanceof ApiError && error.code === "upstream_timeout"));
}
