import assert from "node:assert/strict";
import { AggregatorRegistry, Gauge, Registry } from "prom-client";

const histogram = {
  name: "t_seconds",
  help: "Times.",
  type: "histogram",
  aggregator: "sum",
  values: [
    { metricName: "t_seconds_bucket", labels: { le: 1 }, value: 2 },
    { metricName: "t_seconds_sum", labels: {}, value: 1.5 },
    { metricName: "t_seconds_count", labels: {}, value: 2 },
  ],
};

function registryOf(): Registry {
  const registry = new Registry();
  new Gauge({ name: "t_seconds", help: "Times.", registers: [registry] }).get = () =>
    Promise.resolve(histogram as never);
  return registry;
}

Deno.test("prom-client: a registry reads a metric by its get(), which can be replaced", async () => {
  const text = await registryOf().metrics();
  assert.match(text, /# TYPE t_seconds histogram\nt_seconds_bucket\{le="1"\} 2\n/);
  assert.match(text, /t_seconds_count 2/);
});

Deno.test("prom-client: aggregate() merges metrics of several registries by their aggregator", async () => {
  const all = [await registryOf().getMetricsAsJSON(), await registryOf().getMetricsAsJSON()];
  const text = await AggregatorRegistry.aggregate(all as never).metrics();
  assert.match(text, /t_seconds_bucket\{le="1"\} 4\n/);
  assert.match(text, /t_seconds_sum 3\n/);
});
