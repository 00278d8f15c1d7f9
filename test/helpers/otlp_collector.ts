import assert from "node:assert/strict";
import { readProtobuf } from "./read_protobuf.ts";
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
  readonly status: { readonly code: number; readonly message: string } | null;
  readonly resource: Readonly<Record<string, unknown>>;
}

/** Records what is exported to it. It refuses what is not OTLP over HTTP in protobuf. */
export interface Collector extends AsyncDisposable {
  readonly settings: TracingSettings;
  readonly spans: CollectedSpan[];
  readonly headers: Headers[];
  /** Every body, as far as it is text. */
  readonly bodies: string[];
  status: number;
}

export function openCollector(variables: Record<string, unknown> = {}): Collector {
  const stopping = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: stopping.signal, onListen() {} },
    async (request) => {
      collector.headers.push(request.headers);
      const body = await request.bytes();
      collector.bodies.push(new TextDecoder().decode(body));
      if (collector.status !== 200) return new Response(null, { status: collector.status });
      try {
        assert.equal(`${request.method} ${new URL(request.url).pathname}`, "POST /v1/traces");
        assert.equal(request.headers.get("content-type"), "application/x-protobuf");
        collector.spans.push(...readSpans(body));
        return new Response();
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

type Message = ReturnType<typeof readProtobuf>;

/** `resource_spans` of the export, `scope_spans` of those, `spans` of those. */
function readSpans(body: Uint8Array): CollectedSpan[] {
  return messages(readProtobuf(body), 1).flatMap((resourceSpans) => {
    const resource = readAttributes(messages(resourceSpans, 1)[0]!, 1);
    return messages(resourceSpans, 2).flatMap((scopeSpans) => {
      assert.equal(text(messages(scopeSpans, 1)[0]!, 1), "tollgate");
      return messages(scopeSpans, 2).map((span) => readSpan(span, resource));
    });
  });
}

/** By the numbers of trace.proto. */
function readSpan(span: Message, resource: Record<string, unknown>): CollectedSpan {
  const [traceId, spanId, parentSpanId] = [hex(span, 1), hex(span, 2), hex(span, 4)];
  assert.deepEqual([traceId.length, spanId.length], [32, 16]);
  assert.match(parentSpanId, /^([0-9a-f]{16})?$/);
  assert.equal(whole(span, 16), 1n, "sampled");
  const [status] = messages(span, 15);
  return {
    ...{ traceId, spanId, parentSpanId, resource },
    name: text(span, 5),
    kind: Number(whole(span, 6)),
    traceState: text(span, 3),
    startedAt: whole(span, 7),
    endedAt: whole(span, 8),
    attributes: readAttributes(span, 9),
    events: messages(span, 11).map((event) => {
      assert.match(String(whole(event, 1)), /^\d{19}$/);
      return text(event, 2);
    }),
    status: status === undefined
      ? null
      : { code: Number(whole(status, 3)), message: text(status, 2) },
  };
}

function readAttributes(message: Message, field: number): Record<string, unknown> {
  return Object.fromEntries(
    messages(message, field).map((pair) => [text(pair, 1), readValue(messages(pair, 2)[0]!)]),
  );
}

function readValue(value: Message): unknown {
  assert.equal(value.size, 1);
  if (value.has(1)) return text(value, 1);
  if (value.has(2)) return whole(value, 2) === 1n;
  if (value.has(3)) return Number(BigInt.asIntN(64, whole(value, 3)));
  if (value.has(4)) return new Float64Array(new BigUint64Array([whole(value, 4)]).buffer)[0];
  return messages(messages(value, 5)[0]!, 1).map(readValue);
}

function messages(message: Message, field: number): Message[] {
  return (message.get(field) ?? []).map((bytes) => readProtobuf(bytes as Uint8Array));
}

function text(message: Message, field: number): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(message, field));
}

function hex(message: Message, field: number): string {
  return bytesOf(message, field).toHex();
}

function bytesOf(message: Message, field: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array((message.get(field)?.[0] ?? new Uint8Array()) as Uint8Array);
}

function whole(message: Message, field: number): bigint {
  return (message.get(field)?.[0] ?? 0n) as bigint;
}
