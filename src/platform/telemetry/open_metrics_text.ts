import { AggregatorRegistry } from "prom-client";
import { bucketKey, type Exemplar, newestExemplars } from "./exemplars.ts";
import type { CollectedMetrics } from "./merge_metrics.ts";

export const OPEN_METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Metric = CollectedMetrics[number];

/**
 * The metrics of all threads in the text format of OpenMetrics, which has exemplars. prom-client writes it too, but keeps
 * exemplars only where no metrics are merged.
 */
export async function renderOpenMetrics(collected: readonly CollectedMetrics[]): Promise<string> {
  const exemplars = newestExemplars(collected);
  const merged = await AggregatorRegistry.aggregate([...collected])
    .getMetricsAsJSON() as CollectedMetrics;
  const families = merged.map((metric) => renderFamily(metric, exemplars.get(metric.name)));
  return [...families, "# EOF\n"].join("");
}

function renderFamily(
  metric: Metric,
  exemplars: ReadonlyMap<string, Exemplar> | undefined,
): string {
  const type = String(metric.type);
  // The name of a counter's family is without the end that its samples must have.
  const family = type === "counter" ? metric.name.replace(/_total$/, "") : metric.name;
  const lines = metric.values.map(({ value, labels, ...sample }) => {
    const name = "metricName" in sample ? String(sample.metricName) : metric.name;
    const exemplar = name === `${metric.name}_bucket`
      ? exemplars?.get(bucketKey(labels))
      : undefined;
    return `${name}${renderLabels(labels)} ${renderNumber(value)}${renderExemplar(exemplar)}\n`;
  });
  return `# HELP ${family} ${escape(metric.help)}\n# TYPE ${family} ${type}\n${lines.join("")}`;
}

function renderExemplar(exemplar: Exemplar | undefined): string {
  if (exemplar === undefined) return "";
  const { traceId, value, atMs } = exemplar;
  const seconds = (atMs / 1000).toFixed(3);
  return ` # ${renderLabels({ trace_id: traceId })} ${renderNumber(value)} ${seconds}`;
}

function renderLabels(labels: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(String(value))}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function renderNumber(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}
