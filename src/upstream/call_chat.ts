import type { Upstream } from "../platform/config/config.ts";
import {
  type Adapter,
  type ChatChunk,
  type ChatReply,
  type ChatRequest,
  NotSent,
  type UpstreamRequest,
  type UpstreamTarget,
} from "./adapter.ts";
import { type CallIds, showChunkIds, showReplyIds } from "./call_ids.ts";
import { type BodyReader, readText } from "./body_reader.ts";
import { clientParam } from "./client_param.ts";
import { EventSplitter } from "./event_stream.ts";
import { type ChatResponse, exchangeChat } from "./exchange_chat.ts";
import { retryAfter, UpstreamFailure } from "./failure.ts";
import type { Http1Client } from "./http1/client.ts";
import { parseIfJson } from "./parse_if_json.ts";
import { AbortWatch } from "./abort_watch.ts";

/** One attempt to call one upstream. */
export interface Attempt {
  upstream: Upstream;
  adapter: Adapter;
  /** Sends the requests that it can; null where every request goes through `fetch`. */
  http1: Http1Client | null;
  /** Hides the upstream's ids of tool calls; null where they pass as they are. */
  callIds: CallIds | null;
  /** Longest wait for the first byte, and between two reads. */
  timeoutMs: number;
  /** Ends the attempt from outside: the client disconnected, or the total time is over. */
  signal: AbortSignal;
}

/** A chat request in the format of one upstream. */
export interface WrittenChat {
  readonly target: UpstreamTarget;
  readonly original: ChatRequest;
  readonly request: UpstreamRequest;
}

const REPLY_BYTES_MAX = 64 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;

/** Calls an upstream without streaming. */
export async function callChat(attempt: Attempt, written: WrittenChat): Promise<ChatReply> {
  const { callIds } = attempt;
  const chat = attempt.adapter.chat!;
  using watch = new AbortWatch(attempt);
  const { body } = await send(attempt, watch, written);
  const text = await readText(body, REPLY_BYTES_MAX).catch((cause) => {
    throw watch.toFailure(cause);
  });
  try {
    const reply = chat.read(JSON.parse(text));
    return callIds === null ? reply : showReplyIds(callIds, reply, written.target.baseUrl);
  } catch (cause) {
    throw new UpstreamFailure("unreadable", "the reply cannot be read", { cause });
  }
}

/** A streamed response. */
export interface ChunkStream {
  /** The chunks that arrived together; empty for a keep-alive; null when the provider reported the end. */
  next(): Promise<readonly ChatChunk[] | null>;
  cancel(): void;
}

/** Calls an upstream with streaming. Returns with the first chunks: until then another upstream may be tried. */
export async function callChatStream(
  attempt: Attempt,
  written: WrittenChat,
): Promise<{ first: readonly ChatChunk[]; rest: ChunkStream }> {
  const watch = new AbortWatch(attempt);
  try {
    const { fields, body } = await send(attempt, watch, written);
    const type = fields.get("content-type") ?? "";
    if (!type.startsWith("text/event-stream")) {
      body.cancel();
      throw new UpstreamFailure(
        "unreadable",
        `the reply is not an event stream but ${type || "nothing"}`,
      );
    }
    const stream = new Chunks(body, attempt, written.target, watch);
    while (true) {
      const first = await stream.next();
      if (first === null) throw new UpstreamFailure("cut", "the stream ended before it began");
      if (first.length > 0) return { first, rest: stream };
    }
  } catch (error) {
    watch[Symbol.dispose]();
    throw error;
  }
}

class Chunks implements ChunkStream {
  readonly #splitter = new EventSplitter();
  readonly #reader;
  #isDone = false;

  constructor(
    private readonly body: BodyReader,
    private readonly attempt: Attempt,
    private readonly target: UpstreamTarget,
    private readonly watch: AbortWatch,
  ) {
    this.#reader = attempt.adapter.chat!.reader();
  }

  async next(): Promise<readonly ChatChunk[] | null> {
    if (this.#isDone) {
      void this.#drain();
      return null;
    }
    let piece: Uint8Array | null;
    this.watch.resetTimer();
    try {
      piece = await this.body.read();
    } catch (cause) {
      this.watch[Symbol.dispose]();
      throw this.watch.toFailure(cause);
    }
    this.watch.pauseTimer();
    if (piece === null) {
      this.watch[Symbol.dispose]();
      throw new UpstreamFailure("cut", "the stream ended without its final event");
    }
    return this.#read(piece);
  }

  #read(bytes: Uint8Array): ChatChunk[] {
    const { callIds } = this.attempt;
    const chunks: ChatChunk[] = [];
    try {
      for (const event of this.#splitter.push(bytes)) {
        const chunk = this.#reader.next(event);
        if (chunk === null) continue;
        if (chunk.fault !== undefined) {
          throw new UpstreamFailure(chunk.fault.kind, "the stream reports a failure", {
            cause: event.data,
          });
        }
        chunks.push(callIds === null ? chunk : showChunkIds(callIds, chunk, this.target.baseUrl));
        if (chunk.done === true) this.#isDone = true;
      }
    } catch (cause) {
      this.cancel();
      throw cause instanceof UpstreamFailure
        ? cause
        : new UpstreamFailure("unreadable", "the stream cannot be read", { cause });
    }
    return chunks;
  }

  /** Reads to the end of the body, so that the connection can be reused. */
  async #drain(): Promise<void> {
    try {
      while (await this.body.read() !== null);
    } catch {
      // The response is complete: whatever error ends its connection changes nothing.
    }
    this.watch[Symbol.dispose]();
  }

  cancel(): void {
    this.watch.abort();
    this.body.cancel();
    this.watch[Symbol.dispose]();
  }
}

async function send(
  attempt: Attempt,
  watch: AbortWatch,
  { original, request }: WrittenChat,
): Promise<ChatResponse> {
  const chat = attempt.adapter.chat!;
  let response: ChatResponse;
  try {
    response = await exchangeChat(request, { ...attempt, signal: watch.signal });
  } catch (cause) {
    const failure = watch.toFailure(cause);
    if (failure.kind !== "cut") throw failure;
    throw new UpstreamFailure("unreachable", "the upstream cannot be reached", {
      cause,
      received: cause instanceof NotSent ? "no" : "unknown",
    });
  }
  watch.resetTimer();
  const { status, fields, body } = response;
  if (status >= 200 && status < 300) return response;
  // The status alone decides if the body of an error cannot be read.
  const text = await readText(body, ERROR_BYTES_MAX).catch(() => "");
  const fault = chat.fault(status, parseIfJson(text));
  throw new UpstreamFailure(fault.kind, `the upstream answered ${status}`, {
    cause: text.slice(0, 2000),
    param: clientParam(fault.param, original),
    status,
    retryAfterSeconds: retryAfter(fields),
  });
}
