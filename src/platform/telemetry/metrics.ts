import { Counter, Gauge, Registry } from "prom-client";
import { Exemplars } from "./exemplars.ts";
import { type CollectedMetrics, mergeMetrics } from "./merge_metrics.ts";
import { VERSION } from "./version.ts";
import { renderOpenMetrics } from "./open_metrics_text.ts";
import { RequestTimes } from "./request_times.ts";

/** The metrics of `/metrics`. Labels are closed sets (routes, statuses), never ids or names of clients. */
export interface Metrics {
  registry: Registry;
  exemplars: Exemplars;
  requests: RequestTimes;
  apiErrors: Counter<"code">;
  settlementsBeyondHold: Counter;
  shortfalls: Counter;
  attempts: Counter<"provider" | "outcome">;
  requestRowsLost: Counter<"reason">;
  requestBodiesLost: Counter<"reason">;
  spansLost: Counter<"reason">;
  /** The metrics of this thread. */
  collect(): Promise<CollectedMetrics>;
  /** The metrics of all threads, in Prometheus' text format. */
  render(): Promise<string>;
  /** The same in the format of OpenMetrics, with exemplars. */
  renderOpenMetrics(): Promise<string>;
}

export interface MetricFacts {
  version(): string;
  /** In one of several threads: the metrics of all threads. */
  collectAll?: ((own: CollectedMetrics) => Promise<readonly CollectedMetrics[]>) | undefined;
}

export function openMetrics(facts: MetricFacts): Metrics {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: "tollgate_info",
    help: "Always 1; the labels name the build and the active configuration.",
    labelNames: ["version", "config_version"],
    aggregator: "max",
    registers,
    collect() {
      this.reset();
      this.set({ version: VERSION, config_version: facts.version() }, 1);
    },
  });
  new Gauge({
    name: "tollgate_memory_bytes",
    help: "Memory of the process, and the largest heap of its threads.",
    labelNames: ["kind"],
    aggregator: "max",
    registers,
    collect() {
      const { rss, heapUsed } = Deno.memoryUsage();
      this.set({ kind: "rss" }, rss);
      this.set({ kind: "heap_used" }, heapUsed);
    },
  });
  const exemplars = new Exemplars();
  const collect = async () =>
    exemplars.addTo(await registry.getMetricsAsJSON() as CollectedMetrics);
  const collectAll = facts.collectAll ?? ((own) => Promise.resolve([own]));
  return {
    registry,
    exemplars,
    collect,
    renderOpenMetrics: async () => await renderOpenMetrics(await collectAll(await collect())),
    render: async () =>
      facts.collectAll === undefined
        ? await registry.metrics()
        : await mergeMetrics(await facts.collectAll(await collect())),
    requests: new RequestTimes(registry, exemplars),
    apiErrors: new Counter({
      name: "tollgate_api_errors_total",
      help: "API errors by code.",
      labelNames: ["code"],
      registers,
    }),
    attempts: new Counter({
      name: "tollgate_upstream_attempts_total",
      help: "Attempts at upstreams, by provider and outcome.",
      labelNames: ["provider", "outcome"],
      registers,
    }),
    ...lossCounters(registers),
    settlementsBeyondHold: new Counter({
      name: "tollgate_settlements_beyond_hold_total",
      help: "Requests that cost more than their hold.",
      registers,
    }),
    shortfalls: new Counter({
      name: "tollgate_shortfalls_total",
      help: "Requests that cost more than their hold and than the account could pay.",
      registers,
    }),
  };
}

/** What of the request log was not stored, and what of the traces was not exported. */
function lossCounters(
  registers: Registry[],
): Pick<Metrics, "requestRowsLost" | "requestBodiesLost" | "spansLost"> {
  return {
    requestRowsLost: new Counter({
      name: "tollgate_request_rows_lost_total",
      help: "Rows of the request log that were not written, by reason: full, away, refused.",
      labelNames: ["reason"],
      registers,
    }),
    requestBodiesLost: new Counter({
      name: "tollgate_request_bodies_lost_total",
      help: "Requests whose bodies were to be stored and were not, by reason: full, away, refused.",
      labelNames: ["reason"],
      registers,
    }),
    spansLost: new Counter({
      name: "tollgate_spans_lost_total",
      help: "Spans of traces that were not exported, by reason: full, failed.",
      labelNames: ["reason"],
      registers,
    }),
  };
}

/** Registered by the server: it counts the requests. */
export function registerInFlightGauge(registry: Registry, inFlight: () => number): void {
  new Gauge({
    name: "tollgate_requests_in_flight",
    help: "Requests being answered now.",
    registers: [registry],
    collect() {
      this.set(inFlight());
    },
  });
}
