import type { Log } from "../platform/telemetry/log.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";
import { VERSION } from "../platform/telemetry/version.ts";
import { samplerOf } from "../platform/tracing/sampler.ts";
import { SpanExporter } from "../platform/tracing/span_exporter.ts";
import { Tracer } from "../platform/tracing/tracer.ts";
import type { TracingSettings } from "./tracing_settings.ts";

interface Deps {
  metrics: Pick<Metrics, "spansLost">;
  log: Pick<Log, "warn">;
}

/** Null where no collector is configured: requests then have no spans at all. */
export interface OpenTracing extends AsyncDisposable {
  readonly tracer: Tracer | null;
}

export function openTracing(
  { metrics, log }: Deps,
  { tracing, environment }: {
    tracing: TracingSettings | null;
    environment: Readonly<Record<string, string | undefined>>;
  },
): OpenTracing {
  if ((environment.OTEL_DENO ?? "") !== "") {
    log.warn("OTEL_DENO is set, traces of the runtime contain secrets");
  }
  if (tracing === null) return { tracer: null, async [Symbol.asyncDispose]() {} };
  let isReported = false;
  const exporter = new SpanExporter({
    url: tracing.url,
    headers: tracing.headers,
    resource: { attributes: tracing.resource, version: VERSION },
    limits: tracing.limits,
    onLoss({ spans, reason, error }) {
      metrics.spansLost.inc({ reason }, spans);
      if (isReported) return;
      isReported = true;
      log.warn("spans not exported", { collector: new URL(tracing.url).host, reason, error });
    },
  });
  return {
    tracer: new Tracer(exporter, samplerOf(tracing.sampler, tracing.ratio)),
    [Symbol.asyncDispose]: () => exporter[Symbol.asyncDispose](),
  };
}
