import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from "prom-client";

/** The metrics of one thread, in a form that can be sent to another. */
export type CollectedMetrics = MetricObjectWithValues<MetricValue<string>>[];

/** Prometheus' text for all threads; the `aggregator` of each metric decides how its values are merged. */
export async function mergeMetrics(collected: readonly CollectedMetrics[]): Promise<string> {
  return await AggregatorRegistry.aggregate([...collected]).metrics();
}

/** Keeps counters of exited workers: counters must not fall. Gauges of an exited worker are dropped. */
export async function keepCountersOfExited(
  collected: readonly CollectedMetrics[],
): Promise<CollectedMetrics> {
  const counters = collected.map((each) =>
    each.filter(({ type }) => ["counter", "histogram"].includes(String(type)))
  );
  return await AggregatorRegistry.aggregate(counters).getMetricsAsJSON() as CollectedMetrics;
}
