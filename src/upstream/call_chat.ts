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
import { type ChatExchangeAnswer, exchangeChat } from "./exchange_chat.ts";
import { retryAfter, UpstreamFailure } from "./failure.ts";
import type { Http1Client } from "./http1/client.ts";
import { parseIfJson } from "./parse_if_json.ts";
import { AbortWatch } from "./watch.ts";

/** One attempt at one upstream. */
export interface Attempt {
  upstream: Upstream;
  adapter: Adapter;
  /** Sends what it can; null where everything is for `fetch`. */
  http1: Http1Client | null;
  /** Hides the upstream's ids of tool calls; null where they pass as they are. */
  callIds: CallIds | null;
  /** Longest wait for the first byte, and between two. */
  timeoutMs: number;
  /** Ends the attempt from outside: the client left, or the whole took too long. */
  signal: AbortSignal;
}

/** A chat request as one upstream gets it. */
export interface WrittenChat {
  readonly target: UpstreamTarget;
  readonly asked: ChatRequest;
  readonly sent: UpstreamRequest;
}

const REPLY_BYTES_MAX = 64 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;

/** Asks for a whole answer. */
export async function askWhole(attempt: Attempt, written: WrittenChat): Promise<ChatReply> {
  const { callIds } = attempt;
  const chat = attempt.adapter.chat!;
  using watch = new AbortWatch(attempt);
  const { body } = await send(attempt, watch, written);
  const text = await readText(body, REPLY_BYTES_MAX).catch((cause) => {
    throw watch.explain(cause);
  });
  try {
    const reply = chat.read(JSON.parse(text));
    return callIds === null ? reply : showReplyIds(callIds, reply, written.target.baseUrl);
  } catch (cause) {
    throw new UpstreamFailure("unreadable", "the reply cannot be read", { cause });
  }
}

/** An answer that is still coming. */
export interface ChunkStream {
  /** What arrived together; empty for a sign of life; null when the provider said that it is complete. */
  next(): Promise<readonly ChatChunk[] | null>;
  cancel(): void;
}

/** Asks for a stream, and returns it with its first chunks: until then another upstream may be tried. */
export async function askStream(
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
        `the reply is no event stream but ${type || "nothing"}`,
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
      void this.#leave();
      return null;
    }
    let piece: Uint8Array | null;
    this.watch.seen();
    try {
      piece = await this.body.read();
    } catch (cause) {
      this.watch[Symbol.dispose]();
      throw this.watch.explain(cause);
    }
    this.watch.pause();
    if (piece === null) {
      this.watch[Symbol.dispose]();
      throw new UpstreamFailure("cut", "the stream ended without its end");
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

  /** Reads to the very end, so that the connection serves the next request; hanging up would close it. */
  async #leave(): Promise<void> {
    try {
      while (await this.body.read() !== null);
    } catch {
      // The answer is complete: how its connection ends is of no interest.
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
  { asked, sent }: WrittenChat,
): Promise<ChatExchangeAnswer> {
  const chat = attempt.adapter.chat!;
  let answer: ChatExchangeAnswer;
  try {
    answer = await exchangeChat(sent, { ...attempt, signal: watch.signal });
  } catch (cause) {
    const failure = watch.explain(cause);
    if (failure.kind !== "cut") throw failure;
    throw new UpstreamFailure("unreachable", "the upstream cannot be reached", {
      cause,
      received: cause instanceof NotSent ? "no" : "unknown",
    });
  }
  watch.seen();
  const { status, fields, body } = answer;
  if (status >= 200 && status < 300) return answer;
  const text = await readText(body, ERROR_BYTES_MAX).catch(() => "");
  const fault = chat.fault(status, parseIfJson(text));
  throw new UpstreamFailure(fault.kind, `the upstream answered ${status}`, {
    cause: text.slice(0, 2000),
    param: clientParam(fault.param, asked),
    status,
    retryAfterSeconds: retryAfter(fields),
  });
}
