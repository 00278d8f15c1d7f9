import type {
  Adapter,
  ChatAdapter,
  ChatChunk,
  ChatReply,
  ChatRequest,
  Target,
  UpstreamRequest,
} from "./adapter.ts";
import { type CallIds, restoreCallIds, showChunkIds, showReplyIds } from "./call_ids.ts";
import { type BodyReader, readText } from "./body_reader.ts";
import { EventSplitter } from "./event_stream.ts";
import { type Answer, exchange } from "./exchange_chat.ts";
import { neverConnected, retryAfter, UpstreamFailure } from "./failure.ts";
import type { Http1Client } from "./http1/client.ts";
import { Watch } from "./watch.ts";

/** One attempt at one upstream. */
export interface Attempt {
  adapter: Adapter;
  target: Target;
  /** Sends what it can; null where everything is for `fetch`. */
  http1: Http1Client | null;
  /** Hides the upstream's ids of tool calls; null where they pass as they are. */
  callIds: CallIds | null;
  /** Longest wait for the first byte, and between two. */
  timeoutMs: number;
  /** Ends the attempt from outside: the client left, or the whole took too long. */
  signal: AbortSignal;
}

const REPLY_BYTES_MAX = 64 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;

/** Asks for a whole answer. */
export async function askWhole(attempt: Attempt, request: ChatRequest): Promise<ChatReply> {
  const { callIds, target } = attempt;
  const chat = attempt.adapter.chat!;
  using watch = new Watch(attempt);
  const { body } = await send(attempt, watch, chat, written(attempt, chat, request));
  const text = await readText(body, REPLY_BYTES_MAX).catch((cause) => {
    throw watch.explain(cause);
  });
  try {
    const reply = chat.read(JSON.parse(text));
    return callIds === null ? reply : showReplyIds(callIds, reply, target.baseUrl);
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
  request: ChatRequest,
): Promise<{ first: readonly ChatChunk[]; rest: ChunkStream }> {
  const chat = attempt.adapter.chat!;
  const watch = new Watch(attempt);
  try {
    const { fields, body } = await send(attempt, watch, chat, written(attempt, chat, request));
    const type = fields.get("content-type") ?? "";
    if (!type.startsWith("text/event-stream")) {
      body.cancel();
      throw new UpstreamFailure(
        "unreadable",
        `the reply is no event stream but ${type || "nothing"}`,
      );
    }
    const stream = new Chunks(body, attempt, watch);
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
    private readonly watch: Watch,
  ) {
    this.#reader = attempt.adapter.chat!.reader();
  }

  async next(): Promise<readonly ChatChunk[] | null> {
    if (this.#isDone) {
      void this.#leave();
      return null;
    }
    let piece: Uint8Array | null;
    try {
      piece = await this.body.read();
    } catch (cause) {
      this.watch[Symbol.dispose]();
      throw this.watch.explain(cause);
    }
    this.watch.seen();
    if (piece === null) {
      this.watch[Symbol.dispose]();
      throw new UpstreamFailure("cut", "the stream ended without its end");
    }
    return this.#read(piece);
  }

  #read(bytes: Uint8Array): ChatChunk[] {
    const { callIds, target } = this.attempt;
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
        chunks.push(callIds === null ? chunk : showChunkIds(callIds, chunk, target.baseUrl));
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

/** The request to send, with the upstream's own ids of tool calls. */
function written(
  { callIds, target }: Attempt,
  chat: ChatAdapter,
  request: ChatRequest,
): UpstreamRequest {
  const own = callIds === null ? request : restoreCallIds(callIds, request, target.baseUrl);
  return chat.write(own, target);
}

async function send(
  attempt: Attempt,
  watch: Watch,
  chat: ChatAdapter,
  request: UpstreamRequest,
): Promise<Answer> {
  let answer: Answer;
  try {
    answer = await exchange(request, { ...attempt, signal: watch.signal });
  } catch (cause) {
    const failure = watch.explain(cause);
    if (failure.kind !== "cut") throw failure;
    throw new UpstreamFailure("unreachable", "the upstream cannot be reached", {
      cause,
      sent: neverConnected(cause) ? "no" : "maybe",
    });
  }
  watch.seen();
  const { status, fields, body } = answer;
  if (status >= 200 && status < 300) return answer;
  const text = await readText(body, ERROR_BYTES_MAX).catch(() => "");
  const fault = chat.fault(status, parsed(text));
  throw new UpstreamFailure(fault.kind, `the upstream answered ${status}`, {
    cause: text.slice(0, 2000),
    param: fault.param,
    status,
    retryAfterSeconds: retryAfter(fields),
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
