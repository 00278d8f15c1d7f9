import type { Upstream } from "../platform/config/config.ts";
import {
  type Adapter,
  type ChatChunk,
  type ChatReply,
  type ChatRequest,
  inProcessTransport,
  type UpstreamRequest,
  type UpstreamTarget,
} from "./adapter.ts";
import { type CallIds, showChunkIds, showReplyIds } from "./call_ids.ts";
import type { BodyReader } from "./body_reader.ts";
import { Deadline } from "./deadline.ts";
import { EventSplitter } from "./event_stream.ts";
import type { UpstreamResponse } from "./exchange.ts";
import { UpstreamFailure } from "./failure.ts";
import type { Http1Client } from "./http1/client.ts";
import { openResponse } from "./open_response.ts";
import { readText } from "./read_whole.ts";
import { sealChunk, sealReply, type ThinkingSeals } from "./thinking_seals.ts";

/** One attempt to call one upstream. */
export interface Attempt {
  upstream: Upstream;
  adapter: Adapter;
  /** Sends the requests that it can; null where every request goes through `fetch`. */
  http1: Http1Client | null;
  /** Hides the upstream's ids of tool calls; null where they pass as they are. */
  callIds: CallIds | null;
  /** Seals signatures of reasoning; null where they pass as they are. */
  seals: ThinkingSeals | null;
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
  /** Parameters of the original that this provider does not take. */
  readonly ignored: readonly string[];
}

const REPLY_BYTES_MAX = 64 * 1024 * 1024;

/** Calls an upstream without streaming. */
export async function callChat(attempt: Attempt, written: WrittenChat): Promise<ChatReply> {
  const chat = attempt.adapter.chat!;
  using deadline = new Deadline({ silenceMs: attempt.timeoutMs, signal: attempt.signal });
  const response = await openChat(attempt, written, deadline);
  const text = await readText(response, REPLY_BYTES_MAX).catch((cause) => {
    throw deadline.toFailure(cause);
  });
  try {
    return toClientReply(attempt, chat.read({ body: JSON.parse(text) }), written.target.baseUrl);
  } catch (cause) {
    throw new UpstreamFailure("unreadable", "the reply cannot be read", { cause });
  }
}

/** The reply as a client may see it. */
function toClientReply({ callIds, seals }: Attempt, reply: ChatReply, origin: string): ChatReply {
  const shown = callIds === null ? reply : showReplyIds(callIds, reply, origin);
  return seals === null ? shown : sealReply(seals, shown, origin);
}

function toClientChunk({ callIds, seals }: Attempt, chunk: ChatChunk, origin: string): ChatChunk {
  const shown = callIds === null ? chunk : showChunkIds(callIds, chunk, origin);
  return seals === null ? shown : sealChunk(seals, shown, origin);
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
  const deadline = new Deadline({ silenceMs: attempt.timeoutMs, signal: attempt.signal });
  try {
    const { fields, body } = await openChat(attempt, written, deadline);
    const type = fields.get("content-type") ?? "";
    if (!type.startsWith("text/event-stream")) {
      body.cancel();
      throw new UpstreamFailure(
        "unreadable",
        `the reply is not an event stream but ${type || "nothing"}`,
      );
    }
    const stream = new Chunks(body, attempt, written.target, deadline);
    while (true) {
      const first = await stream.next();
      if (first === null) throw new UpstreamFailure("cut", "the stream ended before it began");
      if (first.length > 0) return { first, rest: stream };
    }
  } catch (error) {
    deadline[Symbol.dispose]();
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
    private readonly deadline: Deadline,
  ) {
    this.#reader = attempt.adapter.chat!.reader();
  }

  async next(): Promise<readonly ChatChunk[] | null> {
    if (this.#isDone) {
      void this.#drain();
      return null;
    }
    let piece: Uint8Array | null;
    this.deadline.resetTimer();
    try {
      piece = await this.body.read();
    } catch (cause) {
      this.deadline[Symbol.dispose]();
      throw this.deadline.toFailure(cause);
    }
    this.deadline.pauseTimer();
    if (piece === null) {
      this.deadline[Symbol.dispose]();
      throw new UpstreamFailure("cut", "the stream ended without its final event");
    }
    return this.#read(piece);
  }

  #read(bytes: Uint8Array): ChatChunk[] {
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
        chunks.push(toClientChunk(this.attempt, chunk, this.target.baseUrl));
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

  /** Reads to the end of the body, so that the connection can be reused; one that stays open is closed. */
  async #drain(): Promise<void> {
    this.deadline.resetTimer();
    try {
      while (await this.body.read() !== null);
    } catch {
      // The response is complete: whatever error ends its connection changes nothing.
    }
    this.deadline[Symbol.dispose]();
  }

  cancel(): void {
    this.deadline.abort();
    this.body.cancel();
    this.deadline[Symbol.dispose]();
  }
}

function openChat(
  { adapter, http1 }: Attempt,
  { original, request }: WrittenChat,
  deadline: Deadline,
): Promise<UpstreamResponse> {
  const transport = inProcessTransport(adapter, request.url);
  return openResponse({ transport, http1, faults: adapter.chat!, original }, request, deadline);
}
