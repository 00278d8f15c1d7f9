import type { CollectedMetrics } from "./merge_metrics.ts";

type Labels = Readonly<Partial<Record<string, string | number>>>;

/** The latest traced request of a bucket. */
export interface Exemplar {
  /** Of the bucket, without its upper edge. */
  readonly labels: Labels;
  readonly le: string | number;
  readonly traceId: string;
  readonly value: number;
  readonly atMs: number;
}

/** They travel with the metrics of a thread to another one. */
type MetricWithExemplars = CollectedMetrics[number] & { exemplars?: readonly Exemplar[] };

/**
 * Leads from a slow bucket of a histogram to the trace of a request in it. Only traced requests are remembered, one for
 * each bucket, so that others cost nothing.
 */
export class Exemplars {
  readonly #histograms = new Map<string, Map<string, Exemplar>>();

  /** What remembers the traced requests of a histogram with these upper edges. Its labels come in one order. */
  of(
    name: string,
    edges: readonly number[],
  ): (labels: Labels, value: number, traceId: string) => void {
    const byBucket = new Map<string, Exemplar>();
    this.#histograms.set(name, byBucket);
    return (labels, value, traceId) => {
      const le = edges.find((edge) => value <= edge) ?? "+Inf";
      const key = `${le}\n${Object.values(labels).join("\n")}`;
      byBucket.set(key, { labels, le, traceId, value, atMs: Date.now() });
    };
  }

  /** The metrics of this thread, with what was remembered. */
  addTo(collected: CollectedMetrics): CollectedMetrics {
    return collected.map((metric): MetricWithExemplars => {
      const exemplars = this.#histograms.get(metric.name);
      return exemplars === undefined ? metric : { ...metric, exemplars: [...exemplars.values()] };
    });
  }
}

/** The newest exemplar of each bucket of all threads, by the name of the metric and the key of the bucket. */
export function newestExemplars(
  collected: readonly CollectedMetrics[],
): ReadonlyMap<string, ReadonlyMap<string, Exemplar>> {
  const newest = new Map<string, Map<string, Exemplar>>();
  for (const { name, exemplars = [] } of collected.flat() as MetricWithExemplars[]) {
    const byBucket = newest.get(name) ?? new Map<string, Exemplar>();
    newest.set(name, byBucket);
    for (const exemplar of exemplars) {
      const key = bucketKey({ ...exemplar.labels, le: exemplar.le });
      if ((byBucket.get(key)?.atMs ?? 0) <= exemplar.atMs) byBucket.set(key, exemplar);
    }
  }
  return newest;
}

/** One text for the labels of a bucket, in whichever order and type they come. */
export function bucketKey(labels: Labels): string {
  return JSON.stringify(Object.keys(labels).sort().map((name) => [name, String(labels[name])]));
}
