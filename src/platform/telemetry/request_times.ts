import { Gauge, type Registry } from "prom-client";
import type { Exemplars } from "./exemplars.ts";

/** Upper edges of the histogram, in milliseconds. */
const EDGES_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000];

/** A client may invent methods; a metric may not grow by them. */
const METHODS = ["GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH"];

function knownMethod(method: string): string {
  return METHODS.includes(method) ? method : "other";
}

interface Series {
  labels: { route: string; method: string; status: number };
  /** One count per edge and one for what is beyond the last. */
  counts: Uint32Array;
  sumMs: number;
}

/**
 * Times of requests by endpoint, method and status. A histogram of prom-client hashes its labels at
 * every observation; this finds its series in two steps and adds, and is turned into prom-client's
 * form only when metrics are collected.
 */
export class RequestTimes {
  readonly #routes = new Map<string, Map<number, Series>>();
  readonly #remember: ReturnType<Exemplars["of"]>;

  constructor(registry: Registry, exemplars: Exemplars) {
    this.#remember = exemplars.of("tollgate_request_seconds", EDGES_MS.map((edge) => edge / 1000));
    new Gauge({
      name: "tollgate_request_seconds",
      help: "Time from a request's arrival to its answer's headers.",
      registers: [registry],
    }).get = () => Promise.resolve(this.#read());
  }

  observe(route: string, method: string, status: number, ms: number): void {
    const series = this.#series(route, method, status);
    let at = 0;
    while (at < EDGES_MS.length && ms > EDGES_MS[at]!) at++;
    series.counts[at]!++;
    series.sumMs += ms;
  }

  /** A request that was observed is traced. */
  rememberTrace({ route, method, status }: Series["labels"], ms: number, traceId: string): void {
    this.#remember({ route, method: knownMethod(method), status }, ms / 1000, traceId);
  }

  #series(route: string, method: string, status: number): Series {
    let byCase = this.#routes.get(route);
    if (byCase === undefined) this.#routes.set(route, byCase = new Map());
    const key = status * 16 + METHODS.indexOf(method);
    let series = byCase.get(key);
    if (series === undefined) {
      const counts = new Uint32Array(EDGES_MS.length + 1);
      byCase.set(
        key,
        series = {
          labels: { route, method: knownMethod(method), status },
          counts,
          sumMs: 0,
        },
      );
    }
    return series;
  }

  #read() {
    const name = "tollgate_request_seconds";
    const values = [...this.#routes.values()].flatMap((byCase) => [...byCase.values()]).flatMap(
      (series) => {
        let sum = 0;
        const buckets = [...series.counts].map((count, at) => ({
          metricName: `${name}_bucket`,
          labels: { ...series.labels, le: at < EDGES_MS.length ? EDGES_MS[at]! / 1000 : "+Inf" },
          value: sum += count,
        }));
        return [
          ...buckets,
          { metricName: `${name}_sum`, labels: series.labels, value: series.sumMs / 1000 },
          { metricName: `${name}_count`, labels: series.labels, value: sum },
        ];
      },
    );
    const help = "Time from a request's arrival to its answer's headers.";
    return { name, help, type: "histogram", values, aggregator: "sum" } as never;
  }
}
