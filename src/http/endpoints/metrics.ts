import type { Metrics } from "../../platform/telemetry/metrics.ts";
import type { Endpoint } from "../exchange.ts";

/** GET /metrics, in Prometheus' text format. */
export function retrieveMetrics({ metrics }: { metrics: Metrics }): Endpoint {
  const headers = { "content-type": metrics.registry.contentType };
  return async function retrieveMetrics() {
    return new Response(await metrics.render(), { headers });
  };
}
