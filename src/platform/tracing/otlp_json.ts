import { type Attributes, type AttributeValue, type Span, SPAN_KINDS } from "./span.ts";

const STATUS_ERROR = 2;
/** The flags of a sampled span. */
const SAMPLED = 1;

export interface TraceResource {
  readonly attributes: Attributes;
  /** Version of the gateway, for the scope of the spans. */
  readonly version: string;
}

/** The body of an OTLP/HTTP export in JSON, as the OpenTelemetry protocol defines it. */
export function toOtlpJson(spans: readonly Span[], { attributes, version }: TraceResource): string {
  return JSON.stringify({
    resourceSpans: [{
      resource: { attributes: toKeyValues(attributes) },
      scopeSpans: [{ scope: { name: "tollgate", version }, spans: spans.map(toOtlpSpan) }],
    }],
  });
}

function toOtlpSpan(span: Span) {
  const { parent, failure, events } = span;
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: parent.spanId,
    traceState: span.state,
    flags: SAMPLED,
    name: span.name,
    kind: SPAN_KINDS[span.kind],
    startTimeUnixNano: toUnixNano(span.startedAt),
    endTimeUnixNano: toUnixNano(span.endedAt),
    attributes: toKeyValues(span.attributes),
    events: events?.map(({ name, at }) => ({ name, timeUnixNano: toUnixNano(at) })),
    status: failure === null ? {} : { code: STATUS_ERROR, message: failure },
  };
}

/** As text: the number of nanoseconds is beyond what a JavaScript number can hold. */
function toUnixNano(at: number): string {
  const ms = performance.timeOrigin + at;
  const seconds = Math.floor(ms / 1000);
  const nanos = Math.floor((ms - seconds * 1000) * 1e6);
  return `${seconds}${String(nanos).padStart(9, "0")}`;
}

function toKeyValues(attributes: Attributes): { key: string; value: unknown }[] {
  const list = [];
  for (const key in attributes) list.push({ key, value: toOtlpValue(attributes[key]!) });
  return list;
}

function toOtlpValue(value: AttributeValue): unknown {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value !== "number") return { arrayValue: { values: value.map(toOtlpValue) } };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
