import type { ApiError } from "../../lib/api_error.ts";
import type { Awaitable } from "../../lib/awaitable.ts";
import type { ChatChunk, ChatReply, ReportedUsage } from "../../upstream/adapter.ts";

/** What every rendering of one answer begins with. */
export interface Heading {
  /** The id of the request; each dialect makes its own id of it. */
  readonly requestId: string;
  /** The model's id, as clients know it. */
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
  /** Of the gateway's configuration: another one may answer differently. */
  readonly fingerprint: string;
}

/**
 * One of the APIs for conversations, for one request: how its answer looks. The engine is the same for all of them.
 */
export interface ChatDialect {
  /** A whole answer, as JSON. */
  renderAnswer(heading: Heading, reply: ChatReply, usage: ReportedUsage): Awaitable<string>;
  openStream(heading: Heading): AnswerWriter;
}

/** Writes the events of one streamed answer. */
export interface AnswerWriter {
  /** Sent when nothing else was for a while, so that the connection is not taken for dead. */
  readonly heartbeat: string;
  /** The events of a chunk; none for a chunk that this dialect does not show. */
  chunk(chunk: ChatChunk): string;
  /** The events that end a complete answer. */
  end(usage: ReportedUsage): Awaitable<string>;
  /** The event that ends an answer that failed. */
  fail(apiError: ApiError): string;
}
