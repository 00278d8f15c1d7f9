import { OPEN_METRICS_TYPE } from "../../platform/telemetry/open_metrics_text.ts";
import type { Metrics } from "../../platform/telemetry/metrics.ts";
import type { Endpoint } from "../exchange.ts";

/** GET /metrics, in Prometheus' text format, or in that of OpenMetrics for a client that asks for it. */
export function retrieveMetrics({ metrics }: { metrics: Metrics }): Endpoint {
  const headers = { "content-type": metrics.registry.contentType };
  const openMetrics = { "content-type": OPEN_METRICS_TYPE };
  return async function retrieveMetrics(c) {
    const accepted = c.req.header("accept") ?? "";
    return accepted.includes("application/openmetrics-text")
      ? new Response(await metrics.renderOpenMetrics(), { headers: openMetrics })
      : new Response(await metrics.render(), { headers });
  };
}
