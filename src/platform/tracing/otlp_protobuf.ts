import { ProtobufWriter } from "./protobuf_writer.ts";
import { type Attributes, type AttributeValue, type Span, SPAN_KINDS } from "./span.ts";

/** Fields of the messages in opentelemetry-proto, `trace.proto`, `resource.proto` and `common.proto`. */
const EXPORT = { resourceSpans: 1 } as const;
const RESOURCE_SPANS = { resource: 1, scopeSpans: 2 } as const;
const RESOURCE = { attributes: 1 } as const;
const SCOPE_SPANS = { scope: 1, spans: 2 } as const;
const SCOPE = { name: 1, version: 2 } as const;
const SPAN = {
  traceId: 1,
  spanId: 2,
  traceState: 3,
  parentSpanId: 4,
  name: 5,
  kind: 6,
  startTime: 7,
  endTime: 8,
  attributes: 9,
  events: 11,
  status: 15,
  flags: 16,
} as const;
const EVENT = { time: 1, name: 2 } as const;
const STATUS = { message: 2, code: 3 } as const;
const KEY_VALUE = { key: 1, value: 2 } as const;
const ANY_VALUE = { string: 1, bool: 2, int: 3, double: 4, array: 5 } as const;
const ARRAY_VALUE = { values: 1 } as const;

const STATUS_ERROR = 2;
/** The flags of a sampled span. */
const SAMPLED = 1;
/** A batch that needs more doubles it. */
const BYTES_FIRST = 65_536;

export interface TraceResource {
  readonly attributes: Attributes;
  /** Version of the gateway, for the scope of the spans. */
  readonly version: string;
}

/**
 * Spans of one OTLP/HTTP export. A span is written when it is added, so that none is kept: objects that live until the
 * export would cost more than writing them. Messages are written with their last field first, as `ProtobufWriter` wants.
 */
export class OtlpBatch {
  readonly #out = new ProtobufWriter(BYTES_FIRST);
  #count = 0;

  /** The number of spans. */
  get count(): number {
    return this.#count;
  }

  add(span: Span): void {
    writeSpan(this.#out, span);
    this.#count++;
  }

  /** The body of the export. Call it once. */
  toBytes({ attributes, version }: TraceResource): Uint8Array<ArrayBuffer> {
    const out = this.#out;
    out.message(SCOPE_SPANS.scope, () => {
      out.string(SCOPE.version, version);
      out.string(SCOPE.name, "tollgate");
    });
    out.wrap(RESOURCE_SPANS.scopeSpans);
    out.message(
      RESOURCE_SPANS.resource,
      () => writeAttributes(out, RESOURCE.attributes, attributes),
    );
    out.wrap(EXPORT.resourceSpans);
    return out.toBytes();
  }
}

/** Fields with their default are left out, as in every message. */
function writeSpan(out: ProtobufWriter, span: Span): void {
  const { parent, failure, events, state } = span;
  out.message(SCOPE_SPANS.spans, () => {
    out.fixed32(SPAN.flags, SAMPLED);
    if (failure !== null) writeStatus(out, failure);
    for (const event of events?.toReversed() ?? []) {
      out.message(SPAN.events, () => {
        out.string(EVENT.name, event.name);
        writeTime(out, EVENT.time, event.at);
      });
    }
    writeAttributes(out, SPAN.attributes, span.attributes);
    writeTime(out, SPAN.endTime, span.endedAt);
    writeTime(out, SPAN.startTime, span.startedAt);
    out.whole(SPAN.kind, SPAN_KINDS[span.kind]);
    out.string(SPAN.name, span.name);
    if (parent.spanId !== "") out.hex(SPAN.parentSpanId, parent.spanId);
    if (state !== "") out.string(SPAN.traceState, state);
    out.hex(SPAN.spanId, span.spanId);
    out.hex(SPAN.traceId, span.traceId);
  });
}

function writeStatus(out: ProtobufWriter, message: string): void {
  out.message(SPAN.status, () => {
    out.whole(STATUS.code, STATUS_ERROR);
    out.string(STATUS.message, message);
  });
}

/** Nanoseconds since 1970, exact to a microsecond, which is what a JavaScript number can hold. */
function writeTime(out: ProtobufWriter, field: number, at: number): void {
  out.fixed64(field, Math.round((performance.timeOrigin + at) * 1000), 1000);
}

function writeAttributes(out: ProtobufWriter, field: number, attributes: Attributes): void {
  for (const key in attributes) {
    out.message(field, () => {
      writeValue(out, KEY_VALUE.value, attributes[key]!);
      out.string(KEY_VALUE.key, key);
    });
  }
}

function writeValue(out: ProtobufWriter, field: number, value: AttributeValue): void {
  out.message(field, () => {
    if (typeof value === "string") return out.string(ANY_VALUE.string, value);
    if (typeof value === "boolean") return out.whole(ANY_VALUE.bool, value ? 1 : 0);
    if (typeof value === "number") {
      return Number.isSafeInteger(value)
        ? out.integer(ANY_VALUE.int, value)
        : out.double(ANY_VALUE.double, value);
    }
    out.message(ANY_VALUE.array, () => {
      for (const each of value.toReversed()) writeValue(out, ARRAY_VALUE.values, each);
    });
  });
}
