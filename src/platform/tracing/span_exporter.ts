import { withTimeout } from "../../lib/timers.ts";
import { toOtlpJson, type TraceResource } from "./otlp_json.ts";
import type { Span, SpanSink } from "./span.ts";

export interface ExporterLimits {
  /** Spans that may wait; more are lost. */
  spansMax: number;
  /** Spans of one export. */
  batchMax: number;
  /** How long the first span of a batch waits for others. */
  gatherMs: number;
  /** How long one export may take. */
  timeoutMs: number;
  /** How long closing waits for the last spans. */
  closeMs: number;
}

export interface ExporterOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: TraceResource;
  readonly limits: ExporterLimits;
  /** Called when spans are lost: too many waited, or the collector did not take them. */
  onLoss(loss: { spans: number; reason: "full" | "failed"; error?: unknown }): void;
}

/**
 * Sends spans to an OpenTelemetry collector, behind the requests: none waits for it. A batch that the collector does
 * not take is lost and counted, not repeated: what waits must stay small, and the next requests have traces too.
 */
export class SpanExporter implements SpanSink, AsyncDisposable {
  #waiting: Span[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending: Promise<void> | null = null;
  #isClosed = false;

  constructor(private readonly options: ExporterOptions) {}

  add(span: Span): void {
    const { spansMax, batchMax } = this.options.limits;
    if (this.#isClosed || this.#waiting.length >= spansMax) {
      return this.options.onLoss({ spans: 1, reason: "full" });
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= batchMax) void this.flush();
    else this.#schedule();
  }

  /** Resolves when all spans that have ended were sent, or lost. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#sending ??= this.#sendAll().finally(() => this.#sending = null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { closeMs } = this.options.limits;
    await withTimeout(this.flush(), closeMs, () => undefined);
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#send(this.#waiting.splice(0, this.options.limits.batchMax));
    }
  }

  async #send(spans: readonly Span[]): Promise<void> {
    const { url, headers, resource, limits: { timeoutMs }, onLoss } = this.options;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: toOtlpJson(spans, resource),
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.body?.cancel();
      if (response.ok) return;
      onLoss({ spans: spans.length, reason: "failed", error: `status ${response.status}` });
    } catch (error) {
      onLoss({ spans: spans.length, reason: "failed", error });
    }
  }

  #schedule(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.flush(), this.options.limits.gatherMs);
    Deno.unrefTimer(this.#timer as unknown as number);
  }
}
