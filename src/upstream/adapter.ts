import type { ModelType } from "../lib/model_types.ts";
import type { MediaAdapter, MediaJobType } from "./media_adapter.ts";

/**
 * What a provider is to the gateway: plain data in, plain data out. An adapter writes requests and reads
 * replies; it never fetches, waits, logs or looks at a clock.
 */
export interface Adapter {
  /** Types of model it can serve. */
  readonly types: readonly ModelType[];
  /** Address used when the declaration names none; null where it must. */
  readonly baseUrl: string | null;
  readonly chat?: ChatAdapter;
  /** By what is made: a provider's pictures and its videos often are two APIs. */
  readonly media?: Readonly<Partial<Record<MediaJobType, MediaAdapter>>>;
  /** Answers in this process instead of over the network. The simulator does. */
  readonly transport?: Transport;
  /** Whether `transport` answers at this address; left out, at every one. */
  isInProcess?(url: string): boolean;
}

/** What answers at this address instead of the network, if anything does. */
export function inProcessTransport(adapter: Adapter, url: string): Transport | undefined {
  return adapter.isInProcess?.(url) === false ? undefined : adapter.transport;
}

/** Throws `NotSent` where no connection came to be, and anything else where one broke. */
export type Transport = (request: Request) => Promise<Response>;

/** Nobody got the request: it may be sent again, here or elsewhere. */
export class NotSent extends TypeError {
  override readonly name = "NotSent";
}

/** What the declaration says of the upstream that is called. */
export interface UpstreamTarget {
  /** What the provider calls the model. */
  readonly model: string;
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** Declared headers; they come last and win. */
  readonly headers: Readonly<Record<string, string>>;
  /** The model's declared output limit, for a provider that must be told one. */
  readonly maxOutputTokens?: number;
  /** What the operator adds to the body of every request, for a model that wants more. */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
}

export interface UpstreamRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
}

/** A chat request in OpenAI's shape, as the client sent it and the gateway's schema let it pass. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly Record<string, unknown>[];
  readonly stream?: boolean;
  readonly [parameter: string]: unknown;
}

export interface ChatAdapter {
  /**
   * The request to send; when streaming it also asks for usage, whatever the client wanted. Throws a
   * `Refusal` for what this provider cannot do; another upstream of the model might.
   */
  write(request: ChatRequest, target: UpstreamTarget): UpstreamRequest;
  /** Reads a whole answer; throws what it cannot read. */
  read(body: unknown): ChatReply;
  /** Reads one stream, event by event; a reader remembers what is spread over events. */
  reader(): ChatReader;
  /** What an answer that is not 2xx means. `body` is parsed JSON where it was JSON, else text. */
  fault(status: number, body: unknown): UpstreamFault;
  /** The most tokens that the provider counts for an image; null where its rule is not known. */
  imageTokens?(image: ImageInput, model: string): number | null;
}

/** An image of a request. Its size is null where only the provider sees it. */
export interface ImageInput {
  readonly size: { readonly width: number; readonly height: number } | null;
  /** OpenAI's `detail`, as the client wrote it. */
  readonly detail: string | null;
}

export interface ChatReader {
  /** What an event adds; null for one that says nothing. Throws what it cannot read. */
  next(event: ServerSentEvent): ChatChunk | null;
}

/** One event of `text/event-stream`; `data` has its lines joined. */
export interface ServerSentEvent {
  readonly event: string | null;
  readonly data: string;
}

/** A whole answer, reduced to what clients may see. The gateway adds id, model and time. */
export interface ChatReply {
  readonly choices: readonly ChatChoice[];
  readonly usage: TokenUsage | null;
}

export interface ChatChoice {
  readonly index: number;
  readonly message: ChatMessage;
  readonly finish_reason: FinishReason;
  readonly logprobs?: unknown;
}

export interface ChatMessage {
  readonly role: "assistant";
  readonly content: string | null;
  readonly refusal?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly ToolCall[];
  /** What `tool_calls` was before there were tools; answers requests that still use `functions`. */
  readonly function_call?: { readonly name: string; readonly arguments: string };
  readonly annotations?: unknown;
  readonly audio?: unknown;
}

export interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** What one event adds to the answer, in OpenAI's shape of a chunk. */
export interface ChatChunk {
  readonly choices: readonly ChunkChoice[];
  /** Present on whichever event carries it; the last one counts. */
  readonly usage?: TokenUsage;
  /** The provider says that the answer is complete. A stream that ends without it was cut. */
  readonly done?: true;
  /** The provider reports a failure in mid-stream. */
  readonly fault?: UpstreamFault;
}

export interface ChunkChoice {
  readonly index: number;
  readonly delta: ChunkDelta;
  readonly finish_reason: FinishReason | null;
  readonly logprobs?: unknown;
}

export interface ChunkDelta {
  readonly role?: "assistant";
  readonly content?: string | null;
  readonly refusal?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly ToolCallDelta[];
  readonly function_call?: { readonly name?: string; readonly arguments?: string };
  readonly audio?: unknown;
}

export interface ToolCallDelta {
  readonly index: number;
  readonly id?: string;
  readonly type?: "function";
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "function_call";

/** Tokens in four buckets that do not overlap: a cached token is not also an input one. */
export interface TokenUsage {
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
  readonly reasoning: number;
}

/**
 * Why an upstream did not answer, in the gateway's own words. `rejected`: the request itself is at
 * fault, and no other upstream would take it. The others may be tried elsewhere.
 */
export interface UpstreamFault {
  readonly kind:
    | "rejected"
    | "too_long"
    | "rate_limited"
    | "unauthorized"
    | "overloaded"
    | "failed";
  /** The client's field, where the provider names one that exists in OpenAI's shape. */
  readonly param?: string;
}
