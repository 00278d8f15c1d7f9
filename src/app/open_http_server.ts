import type { Hono } from "hono";
import { RequestBodies } from "../domain/limits/request_bodies.ts";
import type { Env } from "../http/exchange.ts";
import { type HttpListener, listenHttp, serveWithoutLimits } from "../http/http_listener.ts";
import { RequestHandler } from "../http/request_handler.ts";
import { withTimeout } from "../lib/timers.ts";
import type { Config } from "../platform/config/config.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import { describeError } from "../platform/telemetry/log.ts";
import type { Tracer } from "../platform/tracing/tracer.ts";
import { type Metrics, openMetrics, registerInFlightGauge } from "../platform/telemetry/metrics.ts";
import type { GatewayOptions } from "./gateway.ts";
import { listenAddress, listensEverywhere } from "./listen_address.ts";
import { openTracing } from "./open_tracing.ts";
import { NodeReadiness } from "./readiness.ts";

const DRAIN_MS = 20_000;

/** The listening server. Until `serve` is called it answers `/healthz` and `/readyz` only. */
export interface GatewayServer extends AsyncDisposable {
  readonly address: string;
  readonly metrics: Metrics;
  /** Null: no traces. */
  readonly tracer: Tracer | null;
  readonly readiness: NodeReadiness;
  readonly requestHandler: RequestHandler;
  /** Answers with handlers built for the current configuration, and with new ones after each reload. */
  serve(build: (config: Config) => Hono<Env>): void;
  /** Stops accepting and waits for the requests under way. Harmless to repeat. */
  stop(): Promise<void>;
}

/**
 * Listens before the database is available: an orchestrator sees a live process that reports what it waits for.
 */
export function openHttpServer(configStore: ConfigStore, options: GatewayOptions): GatewayServer {
  const { log, workers } = options;
  const metrics = openMetrics({
    version: () => configStore.current.version,
    collectAll: options.collectAll,
  });
  const tracing = openTracing({ metrics, log }, options);
  const { tracer } = tracing;
  const readiness = new NodeReadiness(configStore);
  const bodies = new RequestBodies({ threads: workers, pace: options.timing?.body });
  const requestHandler = new RequestHandler({
    configStore,
    log,
    metrics,
    tracer,
    bodies,
    onRequest: options.onRequest,
    onStorageTrouble: readiness.recordStorageError,
    readiness: readiness.check,
  });
  registerInFlightGauge(metrics.registry, () => requestHandler.inFlight);
  const server = listen(requestHandler, options);
  const address = listenAddress(server.addr);
  if (listensEverywhere(server.addr) && configStore.current.service.baseUrl === null) {
    log.warn("service.base_url not set, result URLs point to this machine", { address });
  }
  let stopping: Promise<void> | undefined;
  const stop = () => stopping ??= stopServing(requestHandler, server, log);
  return {
    address,
    metrics,
    tracer,
    readiness,
    requestHandler,
    serve(build) {
      const swap = (config: Config) => requestHandler.serve(config, build(config));
      configStore.onChange(swap);
      swap(configStore.current);
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      bodies[Symbol.dispose]();
      await tracing[Symbol.asyncDispose]();
    },
  };
}

function listen(requestHandler: RequestHandler, options: GatewayOptions): HttpListener {
  const { host, port, workers, log, timing } = options;
  const listen = options.onDeploy ? serveWithoutLimits : listenHttp;
  return listen({
    hostname: host,
    port,
    reusePort: workers > 1,
    handler: requestHandler.handle,
    onAcceptError: (error) => log.error("connection not accepted", { error: describeError(error) }),
    timing: timing?.connections,
  });
}

async function stopServing(
  requestHandler: RequestHandler,
  server: HttpListener,
  log: GatewayOptions["log"],
): Promise<void> {
  requestHandler.drain();
  await withTimeout(server.shutdown(), DRAIN_MS, () => {
    log.warn("requests were still running at shutdown", { in_flight: requestHandler.inFlight });
  });
}
