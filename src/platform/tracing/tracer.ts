import type { Sampler } from "./sampler.ts";
import { type NewSpan, Span, type SpanSink } from "./span.ts";
import { parseTraceparent, randomHex, type TraceContext } from "./trace_context.ts";

/** Begins the spans of requests and of the steps of tasks. */
export class Tracer {
  constructor(private readonly sink: SpanSink, private readonly isKept: Sampler) {}

  /** A span that continues the trace of a caller, or begins one. Null: the trace is not kept. */
  start(name: string, parent: TraceContext | null, options?: NewSpan): Span | null {
    const traceId = parent?.traceId ?? randomHex(16);
    if (!this.isKept(traceId, parent)) return null;
    return new Span(this.sink, name, parent ?? { traceId, spanId: "", state: "" }, options);
  }

  /** Continues a trace by its header. Null without one: what has no trace is not worth one of its own. */
  resume(name: string, traceparent: string | null, options?: NewSpan): Span | null {
    const parent = parseTraceparent(traceparent);
    return parent === null || !parent.isSampled ? null : this.start(name, parent, options);
  }
}
