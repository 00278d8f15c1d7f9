import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";
import {
  type BreakerState,
  openModelMetrics,
  type ServedRequest,
} from "../platform/telemetry/model_metrics.ts";
import type { Upstreams } from "../upstream/upstreams.ts";

/** Registers the metrics of models and providers. `upstreams` is asked when metrics are collected. */
export function countRequests(
  { configStore, metrics }: {
    configStore: ConfigStore;
    metrics: Pick<Metrics, "registry" | "exemplars">;
  },
  upstreams: () => Pick<Upstreams, "getHealth">,
): (request: ServedRequest) => void {
  return openModelMetrics(metrics, {
    isConfigured: (model) => configStore.current.models.has(model),
    breakers: () => breakersOf(configStore, upstreams()),
    lastReload: () => configStore.lastReload,
  });
}

function breakersOf(
  { current: { models } }: ConfigStore,
  upstreams: Pick<Upstreams, "getHealth">,
): BreakerState[] {
  return [...models.values()].flatMap((model) =>
    model.upstreams.map((upstream) => ({
      provider: upstream.provider,
      model: upstream.model,
      isOpen: upstreams.getHealth(upstream).state !== "closed",
    }))
  );
}
