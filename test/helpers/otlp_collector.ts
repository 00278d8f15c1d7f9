import assert from "node:assert/strict";
import { toTracingSettings, type TracingSettings } from "../../src/app/tracing_settings.ts";

/** A span as a collector reads it. */
export interface CollectedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  /** Nanoseconds. */
  readonly startedAt: bigint;
  readonly endedAt: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  readonly status: { readonly code?: number; readonly message?: string };
  readonly resource: Readonly<Record<string, unknown>>;
}

/** Records what is exported to it. It refuses what does not have the form of OTLP over HTTP in JSON. */
export interface Collector extends AsyncDisposable {
  readonly settings: TracingSettings;
  readonly spans: CollectedSpan[];
  readonly headers: Headers[];
  /** Every body, as text. */
  readonly bodies: string[];
  status: number;
}

// deno-lint-ignore no-explicit-any
type Json = any;

export function openCollector(variables: Record<string, unknown> = {}): Collector {
  const stopping = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: stopping.signal, onListen() {} },
    async (request) => {
      collector.headers.push(request.headers);
      const text = await request.text();
      collector.bodies.push(text);
      if (collector.status !== 200) return new Response(null, { status: collector.status });
      try {
        assert.equal(`${request.method} ${new URL(request.url).pathname}`, "POST /v1/traces");
        assert.equal(request.headers.get("content-type"), "application/json");
        collector.spans.push(...readSpans(JSON.parse(text)));
        return Response.json({});
      } catch (error) {
        return new Response(String(error), { status: 400 });
      }
    },
  );
  const collector: Collector = {
    settings: toTracingSettings({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${server.addr.port}`,
      OTEL_BSP_SCHEDULE_DELAY: 20,
      ...variables,
    })!,
    spans: [],
    headers: [],
    bodies: [],
    status: 200,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await server.finished;
    },
  };
  return collector;
}

function readSpans({ resourceSpans }: Json): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }: Json) =>
    scopeSpans.flatMap(({ scope, spans }: Json) => {
      assert.equal(scope.name, "tollgate");
      return spans.map((span: Json) => readSpan(span, toRecord(resource.attributes)));
    })
  );
}

function readSpan(span: Json, resource: Record<string, unknown>): CollectedSpan {
  assert.match(span.traceId, /^[0-9a-f]{32}$/);
  assert.match(span.spanId, /^[0-9a-f]{16}$/);
  assert.match(span.parentSpanId, /^([0-9a-f]{16})?$/);
  assert.match(span.startTimeUnixNano, /^\d{19}$/);
  assert.match(span.endTimeUnixNano, /^\d{19}$/);
  return {
    ...span,
    resource,
    startedAt: BigInt(span.startTimeUnixNano),
    endedAt: BigInt(span.endTimeUnixNano),
    attributes: toRecord(span.attributes),
    events: (span.events ?? []).map(({ name, timeUnixNano }: Json) => {
      assert.match(timeUnixNano, /^\d{19}$/);
      return name;
    }),
  };
}

function toRecord(attributes: readonly Json[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, toValue(value)]));
}

/** Whole numbers are text in OTLP's JSON. */
function toValue(value: Json): unknown {
  assert.equal(Object.keys(value).length, 1);
  if ("intValue" in value) {
    assert.equal(typeof value.intValue, "string");
    return Number(value.intValue);
  }
  return value.stringValue ?? value.doubleValue ?? value.boolValue ??
    value.arrayValue.values.map(toValue);
}
