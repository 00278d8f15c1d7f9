import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from "prom-client";

/** What a registry says, in a form that can be sent to another thread. */
export type Told = MetricObjectWithValues<MetricValue<string>>[];

/** Text for Prometheus that answers for all: each metric is put together as its `aggregator` says. */
export async function addUp(told: readonly Told[]): Promise<string> {
  return await AggregatorRegistry.aggregate([...told]).metrics();
}

/** Of those who are gone: their counts, since a sum of counts must not fall. What they were doing is over. */
export async function keepCounts(told: readonly Told[]): Promise<Told> {
  const counts = told.map((each) =>
    each.filter(({ type }) => ["counter", "histogram"].includes(String(type)))
  );
  return await AggregatorRegistry.aggregate(counts).getMetricsAsJSON() as Told;
}
