import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from "prom-client";

/** What a registry says, in a form that can be sent to another thread. */
export type CollectedMetrics = MetricObjectWithValues<MetricValue<string>>[];

/** Text for Prometheus that answers for all: each metric is put together as its `aggregator` says. */
export async function mergeMetrics(told: readonly CollectedMetrics[]): Promise<string> {
  return await AggregatorRegistry.aggregate([...told]).metrics();
}

/** Of those who are gone: their counts, since a sum of counts must not fall. What they were doing is over. */
export async function keepCountersOfExited(
  told: readonly CollectedMetrics[],
): Promise<CollectedMetrics> {
  const counts = told.map((each) =>
    each.filter(({ type }) => ["counter", "histogram"].includes(String(type)))
  );
  return await AggregatorRegistry.aggregate(counts).getMetricsAsJSON() as CollectedMetrics;
}
