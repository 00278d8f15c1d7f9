import type { Span } from "../../platform/tracing/span.ts";
import type { BodyNote } from "./body_note.ts";
import { endRequestTrace } from "./request_trace.ts";

/** One attempt at an upstream. For operators only: it names the provider. */
export interface RequestAttempt {
  readonly provider: string;
  readonly model: string;
  readonly outcome: string;
  /** As `performance.now()`. */
  readonly startedAt: number;
  /** Of a stream: how long its first byte took. */
  readonly firstByteMs: number | null;
  readonly durationMs: number;
}

/** Tokens of a chat; the kinds do not overlap. The receipt has them in detail. */
export interface RequestTokens {
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
  readonly audioInput?: number;
  readonly output: number;
  readonly reasoning: number;
  readonly audioOutput?: number;
}

/** What is known of a request when its caller is. */
export interface RequestStart {
  readonly requestId: string;
  /** As `performance.now()`. */
  readonly startedAt: number;
  readonly method: string;
  readonly clientRequestId: string | null;
  readonly span?: Span | null;
}

/** The account and key of a request; a request of the console has no key. */
export interface RequestCaller {
  readonly account: string;
  readonly key: string | null;
}

/** Takes requests that have ended. */
export interface RequestSink {
  add(request: OpenRequest): void;
}

/** A request under way. It becomes a row of the request log when its response has ended. */
export class OpenRequest {
  readonly id: string;
  readonly account: string;
  readonly key: string | null;
  readonly method: string;
  readonly clientRequestId: string | null;
  /** Null: the request is not traced. It ends with the request. */
  readonly span: Span | null;
  readonly #startedAt: number;
  /** Ends that are awaited: of the response's head, and of a stream. */
  #awaited = 1;

  model: string | null = null;
  user: string | null = null;
  metadata: Readonly<Record<string, unknown>> | null = null;
  isStream = false;
  tokens: RequestTokens | null = null;
  /** Money taken, as a decimal string; null: not known yet. */
  charge: string | null = "0";
  /** The task that it created. */
  task: string | null = null;
  readonly attempts: RequestAttempt[] = [];
  /** Null: its bodies are not kept. */
  bodies: BodyNote | null = null;
  status = 0;
  errorCode: string | null = null;
  firstByteMs = 0;
  durationMs = 0;

  constructor(
    private readonly sink: RequestSink,
    start: RequestStart,
    caller: RequestCaller,
    /** The operation of its route; null for an unknown endpoint. */
    readonly endpoint: string | null,
  ) {
    this.id = start.requestId;
    this.account = caller.account;
    this.key = caller.key;
    this.method = start.method;
    this.clientRequestId = start.clientRequestId;
    this.span = start.span ?? null;
    this.#startedAt = start.startedAt;
  }

  /** Time spent at upstreams so far. */
  get upstreamMs(): number {
    let sum = 0;
    for (const { durationMs } of this.attempts) sum += durationMs;
    return sum;
  }

  /** The response goes on as a stream, which calls `endStream`. */
  beginStream(): void {
    this.#awaited++;
  }

  /** The head of the response is sent, and all of it unless a stream follows. */
  respond(status: number, errorCode: string | null, ms: number): void {
    this.status = status;
    this.errorCode ??= errorCode;
    this.firstByteMs = ms;
    this.durationMs = Math.max(this.durationMs, ms);
    this.#end();
  }

  /** `errorCode`: what the client was told in the stream, or why it got no more of it. */
  endStream(errorCode: string | null): void {
    this.errorCode = errorCode;
    this.durationMs = performance.now() - this.#startedAt;
    this.#end();
  }

  #end(): void {
    if (--this.#awaited > 0) return;
    if (this.span !== null) endRequestTrace(this.span, this);
    this.sink.add(this);
    this.bodies?.endRequest();
  }
}
