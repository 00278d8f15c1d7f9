import { Counter, Gauge, Registry } from "prom-client";
import { type CollectedMetrics, mergeMetrics } from "./merge_metrics.ts";
import { RequestTimes } from "./request_times.ts";

/** What `/metrics` shows. Labels are closed sets (routes, statuses), never ids or names of clients. */
export interface Metrics {
  registry: Registry;
  requests: RequestTimes;
  refusals: Counter<"code">;
  settlementsBeyondHold: Counter;
  shortfalls: Counter;
  attempts: Counter<"provider" | "outcome">;
  /** What this thread has counted. */
  collect(): Promise<CollectedMetrics>;
  /** All there is to say, in Prometheus' text format. */
  render(): Promise<string>;
}

export interface MetricFacts {
  version(): string;
  inFlight(): number;
  /** Of a thread among others: what all of them have counted. */
  countAll?: ((own: CollectedMetrics) => Promise<readonly CollectedMetrics[]>) | undefined;
}

export function openMetrics(facts: MetricFacts): Metrics {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: "tollgate_info",
    help: "Always 1; the label names the declaration in force.",
    labelNames: ["declaration"],
    aggregator: "max",
    registers,
    collect() {
      this.reset();
      this.set({ declaration: facts.version() }, 1);
    },
  });
  new Gauge({
    name: "tollgate_requests_in_flight",
    help: "Requests being answered now.",
    registers,
    collect() {
      this.set(facts.inFlight());
    },
  });
  new Gauge({
    name: "tollgate_memory_bytes",
    help: "Memory of the process, and heap of the thread that has the largest.",
    labelNames: ["kind"],
    aggregator: "max",
    registers,
    collect() {
      const { rss, heapUsed } = Deno.memoryUsage();
      this.set({ kind: "rss" }, rss);
      this.set({ kind: "heap_used" }, heapUsed);
    },
  });
  const collect = async () => await registry.getMetricsAsJSON() as CollectedMetrics;
  return {
    registry,
    collect,
    render: async () =>
      facts.countAll === undefined
        ? await registry.metrics()
        : await mergeMetrics(await facts.countAll(await collect())),
    requests: new RequestTimes(registry),
    refusals: new Counter({
      name: "tollgate_refusals_total",
      help: "Refusals by error code.",
      labelNames: ["code"],
      registers,
    }),
    attempts: new Counter({
      name: "tollgate_upstream_attempts_total",
      help: "Attempts at upstreams by provider and how they went.",
      labelNames: ["provider", "outcome"],
      registers,
    }),
    settlementsBeyondHold: new Counter({
      name: "tollgate_settlements_beyond_hold_total",
      help: "Requests that came to more than was held for them.",
      registers,
    }),
    shortfalls: new Counter({
      name: "tollgate_shortfalls_total",
      help: "Requests that came to more than was held and than the account could pay.",
      registers,
    }),
  };
}
