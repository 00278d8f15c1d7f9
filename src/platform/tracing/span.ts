import { formatTraceparent, randomHex, type TraceContext } from "./trace_context.ts";

export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Record<string, AttributeValue>;

/** As OTLP numbers them. */
export const SPAN_KINDS = { internal: 1, server: 2, client: 3 } as const;
export type SpanKind = keyof typeof SPAN_KINDS;

export interface SpanEvent {
  readonly name: string;
  /** As `performance.now()`. */
  readonly at: number;
}

export interface NewSpan {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** As `performance.now()`; left out: now. */
  readonly startedAt?: number;
}

/** Takes spans that have ended. */
export interface SpanSink {
  add(span: Span): void;
}

/** One step of a request or a task: what it was, when it began and how it ended. */
export class Span {
  readonly spanId = randomHex(8);
  readonly isSampled = true;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  readonly startedAt: number;
  endedAt = 0;
  events: SpanEvent[] | null = null;
  /** Why it failed; null: it did not. */
  failure: string | null = null;

  constructor(
    private readonly sink: SpanSink,
    public name: string,
    /** The trace, and the span that it belongs to; an empty id: it is the first of the trace. */
    readonly parent: Pick<TraceContext, "traceId" | "spanId" | "state">,
    { kind = "internal", attributes = {}, startedAt = performance.now() }: NewSpan = {},
  ) {
    this.kind = kind;
    this.attributes = attributes;
    this.startedAt = startedAt;
  }

  get traceId(): string {
    return this.parent.traceId;
  }

  get state(): string {
    return this.parent.state;
  }

  /** For the header of what is sent out as part of this span. */
  get traceparent(): string {
    return formatTraceparent(this);
  }

  start(name: string, options?: NewSpan): Span {
    return new Span(this.sink, name, this, options);
  }

  set(attributes: Attributes): void {
    Object.assign(this.attributes, attributes);
  }

  addEvent(name: string, at = performance.now()): void {
    (this.events ??= []).push({ name, at });
  }

  /** `reason`: a code, never the text of an error, which may hold anything. */
  fail(reason: string): void {
    this.failure = reason;
    this.attributes["error.type"] = reason;
  }

  /** Call it once. */
  end(at = performance.now()): void {
    this.endedAt = at;
    this.sink.add(this);
  }
}
