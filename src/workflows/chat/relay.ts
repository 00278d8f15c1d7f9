import type { ChatChunk } from "../../upstream/adapter.ts";
import type { ChunkStream } from "../../upstream/call_chat.ts";
import { sleep } from "../../lib/timers.ts";
import type { AnswerWriter } from "./dialect.ts";

export interface RelayOptions {
  first: readonly ChatChunk[];
  rest: ChunkStream;
  writer: AnswerWriter;
  /** Called with every chunk before it is sent to the client. */
  onChunk(chunk: ChatChunk): void;
  /** The answer is complete; the result is the end of the stream. */
  onEnd(): Promise<string>;
  /** The upstream failed; the result is the event that tells the client. */
  onFailure(error: unknown): Promise<string>;
  /** The client disconnected, or stopped reading. `true`: read the upstream to its end without it. */
  onDisconnect(): boolean;
  /** Aborts at the deadline of the whole answer, which also ends the upstream's stream. */
  deadline: AbortSignal;
  /** How long a client may leave pending text unread, and the event that then ends its stream. */
  unread: { ms: number; event(): string };
}

const HEARTBEAT_MS = 15_000;
/**
 * The least time between two writes of one stream. Tokens of a model usually come further apart than this and
 * are not delayed; a burst leaves in few pieces, and writing is what costs most.
 */
const WRITE_INTERVAL_MS = 3;
/** How much is read ahead of a client that does not read. */
const READ_AHEAD_MAX = 65_536;
const encoder = new TextEncoder();

/**
 * Passes an answer on as it arrives: the first token at once, later ones in batches. A client that does not
 * read stops the reading from the upstream; a stream that fails ends with an error event.
 */
export function relay(options: RelayOptions): ReadableStream<Uint8Array> {
  return new ReadableStream(new Relay(options), { highWaterMark: 0 });
}

type Controller = ReadableStreamDefaultController<Uint8Array>;

class Relay implements UnderlyingDefaultSource<Uint8Array> {
  /** Text that the client has not read yet. */
  #pending: string;
  #lastSent = -Infinity;
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  /** The upstream has ended or failed; then also what follows from it is done. */
  #isEnding = false;
  #isOver = false;
  #isDisconnected = false;
  #isStopped = false;
  /** When the client last read something; null while it waits for more. */
  #unreadSince: number | null = performance.now();
  /** Called when there is text to send, and when it was read. */
  #onPending: (() => void) | null = null;
  #onRead: (() => void) | null = null;
  /** Without this the reading would wait for the client past the deadline, and keep the upstream's permit. */
  readonly #onDeadline = () => this.#onRead?.();

  constructor(private readonly options: RelayOptions) {
    this.#pending = this.#write(options.first);
    options.deadline.addEventListener("abort", this.#onDeadline);
  }

  start(controller: Controller): void {
    const { unread } = this.options;
    this.#heartbeat = setInterval(
      () => this.#checkClient(controller),
      Math.min(HEARTBEAT_MS, unread.ms) / 3,
    );
    void this.#readUpstream();
  }

  async pull(controller: Controller): Promise<void> {
    this.#unreadSince = null;
    if (this.#pending === "" && !this.#isOver) {
      await new Promise<void>((resolve) => this.#onPending = resolve);
    }
    this.#onPending = null;
    const early = WRITE_INTERVAL_MS - (performance.now() - this.#lastSent);
    if (early > 0 && !this.#isOver) await sleep(early);
    if (this.#isDisconnected) return;
    // Settled before the last text is sent: a client that has read it finds the receipt.
    const isLast = this.#isOver;
    if (this.#pending !== "") controller.enqueue(encoder.encode(this.#pending));
    this.#pending = "";
    this.#lastSent = performance.now();
    this.#unreadSince = this.#lastSent;
    this.#onRead?.();
    if (!isLast) return;
    clearInterval(this.#heartbeat);
    this.options.deadline.removeEventListener("abort", this.#onDeadline);
    controller.close();
  }

  cancel(): void {
    clearInterval(this.#heartbeat);
    this.options.deadline.removeEventListener("abort", this.#onDeadline);
    this.#isDisconnected = true;
    this.#pending = "";
    this.#onPending?.();
    if (this.#isEnding) return;
    this.#onRead?.();
    if (this.options.onDisconnect()) return;
    this.#isEnding = true;
    this.#isStopped = true;
    this.options.rest.cancel();
  }

  /** Ends the stream of a client that does not read; sends a heartbeat to one that waits. */
  #checkClient(controller: Controller): void {
    const { unread } = this.options;
    const isFull = (controller.desiredSize ?? 0) < 0;
    const hasUnread = this.#pending !== "" || this.#isOver || isFull;
    if (hasUnread && this.#unreadSince !== null) {
      if (performance.now() - this.#unreadSince < unread.ms) return;
      this.cancel();
      controller.enqueue(encoder.encode(unread.event()));
      controller.close();
      return;
    }
    if (performance.now() - this.#lastSent < HEARTBEAT_MS || isFull) return;
    controller.enqueue(encoder.encode(this.options.writer.heartbeat));
    this.#lastSent = performance.now();
  }

  async #readUpstream(): Promise<void> {
    while (!this.#isOver && !this.#isStopped) {
      const text = await this.#next();
      this.#isOver = this.#isEnding;
      if (this.#isDisconnected) continue;
      this.#pending += text;
      if (this.#pending !== "" || this.#isOver) this.#onPending?.();
      const isAhead = this.#pending.length > READ_AHEAD_MAX;
      if (isAhead && !this.#isOver && !this.options.deadline.aborted) {
        await new Promise<void>((resolve) => this.#onRead = resolve);
      }
    }
  }

  /** The next text to send; empty for a keep-alive of the upstream. */
  async #next(): Promise<string> {
    try {
      const chunks = await this.options.rest.next();
      if (chunks !== null && !this.#isEnding) return this.#write(chunks);
    } catch (error) {
      if (!this.#isEnding) return await this.#end(this.options.onFailure(error));
    }
    return this.#isEnding ? "" : await this.#end(this.options.onEnd());
  }

  #end(last: Promise<string>): Promise<string> {
    this.#isEnding = true;
    return last;
  }

  #write(chunks: readonly ChatChunk[]): string {
    let text = "";
    for (const chunk of chunks) {
      this.options.onChunk(chunk);
      text += this.options.writer.chunk(chunk);
    }
    return text;
  }
}
