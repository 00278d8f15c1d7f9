import type { Awaitable } from "../lib/awaitable.ts";
import type { ReportedUsage } from "../model_types/chat.ts";
import type { ModelType } from "../model_types/model_types.ts";
import type { MediaAdapter, MediaJobType } from "./media_adapter.ts";

export type { ModelType, ReportedUsage };

/**
 * Translates between the gateway and a provider: plain data in, plain data out. An adapter writes requests and
 * reads replies; it never fetches, waits, logs or reads the clock.
 */
export interface Adapter {
  /** Types of models that it supports. */
  readonly types: readonly ModelType[];
  /** The default base URL; null where the configuration must have one. */
  readonly baseUrl: string | null;
  readonly chat?: ChatAdapter;
  /** By type of job: many providers have separate APIs for images and videos. */
  readonly media?: Readonly<Partial<Record<MediaJobType, MediaAdapter>>>;
  /** Answers requests in this process, without the network. Only the simulator has one. */
  readonly transport?: Transport;
  /** Whether `transport` answers requests to this URL; by default, to every URL. */
  isInProcess?(url: string): boolean;
}

/** The transport that answers requests to this URL in this process, if any. */
export function inProcessTransport(adapter: Adapter, url: string): Transport | undefined {
  return adapter.isInProcess?.(url) === false ? undefined : adapter.transport;
}

/** Throws `NotSent` if no connection was opened, and any other error if it broke. */
export type Transport = (request: Request) => Promise<Response>;

/** No server received the request: it may be sent again, to this or another upstream. */
export class NotSent extends TypeError {
  override readonly name = "NotSent";
}

/** The configuration of the upstream that is called. */
export interface UpstreamTarget {
  /** The provider's name of the model. */
  readonly model: string;
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** Configured headers; they replace all others. */
  readonly headers: Readonly<Record<string, string>>;
  /** The model's configured output limit, for providers that require one. */
  readonly maxOutputTokens?: number;
  /** Configured fields that are added to the body of every request. */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
}

export interface UpstreamRequest<Body = string | null> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: Body;
}

/** A 2xx response. `body` is parsed JSON, or bytes for any other type. */
export interface UpstreamReply {
  readonly status: number;
  readonly mimeType: string;
  readonly headers: Pick<Headers, "get">;
  readonly body: unknown;
}

/** One kind of call to a provider: writes its request and reads its reply. */
export interface Operation<Input, Output> {
  write(input: Input, target: UpstreamTarget): Awaitable<UpstreamRequest<UpstreamBody>>;
  /** Throws if the reply is invalid. */
  read(reply: UpstreamReply, target: UpstreamTarget, input: Input): Awaitable<Output>;
  /** The result that a non-2xx status stands for; undefined or absent: the call has failed. */
  readStatus?(status: number, body: unknown): Output | undefined;
}

export type UpstreamBody = string | Uint8Array<ArrayBuffer> | FormData | null;

/**
 * A chat request in OpenAI's format, valid for the gateway's schema. What other dialects can say beyond that format is
 * in it too, in Anthropic's words: `cache_control` on content parts and tools, parts of type `thinking` and
 * `redacted_thinking` in assistant messages, `is_error` of tool messages. Adapters translate it, or leave it out where it
 * is a hint only. It may have any of the `EXTRA_PARAMETERS`.
 */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly Record<string, unknown>[];
  readonly stream?: boolean;
  readonly [parameter: string]: unknown;
}

/** Parameters beyond OpenAI's. An adapter says which of them it takes, and leaves out the others. */
export const EXTRA_PARAMETERS = [
  ...["top_k", "min_p", "top_a", "repetition_penalty", "thinking", "cache_control"],
] as readonly string[];

/** A chat, read as a whole by `read` or event by event by `reader`. Synchronous: it is on the path of every chat. */
export interface ChatAdapter extends Operation<ChatRequest, ChatReply> {
  /**
   * The request to send; a streaming request always asks for usage, even if the client does not. Throws an
   * `ApiError` for a request that this provider does not support; another upstream may support it.
   */
  write(request: ChatRequest, target: UpstreamTarget): UpstreamRequest;
  /** Reads a response that is not streamed; throws if it is invalid. Its body is JSON, whatever its type says. */
  read(reply: Pick<UpstreamReply, "body">): ChatReply;
  /** A reader for one stream; it keeps state between events. */
  reader(): ChatReader;
  /** The fault that a non-2xx response describes. `body` is parsed JSON, or text for any other type. */
  fault(status: number, body: unknown): UpstreamFault;
  /** Those of the `EXTRA_PARAMETERS` that the provider takes. */
  readonly extras?: readonly string[];
  /** The maximum tokens that the provider counts for an image; null where its rule is unknown. */
  imageTokens?(image: ImageInput, model: string): number | null;
}

/** An image of a request. Its size is null where the gateway does not have the image, only its URL. */
export interface ImageInput {
  readonly size: { readonly width: number; readonly height: number } | null;
  /** OpenAI's `detail`, as the client wrote it. */
  readonly detail: string | null;
}

export interface ChatReader {
  /** The chunk of an event; null for an event without content. Throws if the event is invalid. */
  next(event: ServerSentEvent): ChatChunk | null;
}

/** One event of `text/event-stream`; `data` has its lines joined. */
export interface ServerSentEvent {
  readonly event: string | null;
  readonly data: string;
}

/** A complete answer, reduced to the fields that clients may see. The gateway adds id, model and time. */
export interface ChatReply {
  readonly choices: readonly ChatChoice[];
  readonly usage: ReportedUsage | null;
}

export interface ChatChoice {
  readonly index: number;
  readonly message: ChatMessage;
  readonly finish_reason: FinishReason;
  readonly logprobs?: unknown;
  /** The text of `stop` that ended the answer, where the provider tells it. */
  readonly stopSequence?: string;
}

export interface ChatMessage {
  readonly role: "assistant";
  readonly content: string | null;
  readonly refusal?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly ToolCall[];
  /** The predecessor of `tool_calls`, for requests that use `functions`. */
  readonly function_call?: { readonly name: string; readonly arguments: string };
  readonly annotations?: readonly Annotation[];
  readonly audio?: unknown;
  /** Text and reasoning in their order, of an answer with signed reasoning; the other fields have the same joined. */
  readonly parts?: readonly AnswerPart[];
}

/** A source of the answer, of a model that searches the web. */
export interface Annotation {
  readonly type: "url_citation";
  readonly url_citation: Readonly<Record<string, unknown>>;
}

/** A part of an answer, as it is sent back in `content` of an assistant message. */
export type AnswerPart = TextPart | ThinkingPart | RedactedThinkingPart;

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** Reasoning. Its provider takes it back only with the signature that it gave. */
export interface ThinkingPart {
  readonly type: "thinking";
  readonly thinking: string;
  readonly signature?: string;
}

/** Reasoning that only its provider can read. */
export interface RedactedThinkingPart {
  readonly type: "redacted_thinking";
  readonly data: string;
}

export interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** What one event adds to the answer, in OpenAI's chunk format. */
export interface ChatChunk {
  readonly choices: readonly ChunkChoice[];
  /** Any event may have it; the last one counts. */
  readonly usage?: ReportedUsage;
  /** The signature of the reasoning so far, or reasoning that only the provider can read. */
  readonly thinking?: { readonly signature: string } | { readonly redacted: string };
  /** The text of `stop` that ended the answer, where the provider tells it. */
  readonly stopSequence?: string;
  /** The provider reports that the answer is complete. A stream that ends without it was cut off. */
  readonly done?: true;
  /** The provider reports a failure in the middle of the stream. */
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
  readonly annotations?: readonly Annotation[];
  readonly audio?: unknown;
}

export interface ToolCallDelta {
  readonly index: number;
  readonly id?: string;
  readonly type?: "function";
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "function_call";

/**
 * Why an upstream did not answer. `rejected`: the request is invalid, and no other upstream would accept it.
 * After the other kinds another upstream may be tried.
 */
export interface UpstreamFault {
  readonly kind:
    | "rejected"
    | "too_long"
    | "rate_limited"
    | "unauthorized"
    | "overloaded"
    | "failed";
  /** The client's field, where the provider names one that exists in OpenAI's format. */
  readonly param?: string;
}
