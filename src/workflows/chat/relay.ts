import type { ChatChunk } from "../../upstream/adapter.ts";
import type { ChunkStream } from "../../upstream/call_chat.ts";
import { type ChunkWriter, DONE, HEARTBEAT } from "./render.ts";
import { sleep } from "../../lib/timers.ts";

export interface RelayOptions {
  first: readonly ChatChunk[];
  rest: ChunkStream;
  writer: ChunkWriter;
  /** Sees every chunk before the client does. */
  onChunk(chunk: ChatChunk): void;
  /** The answer is complete; what it resolves to is sent before the end of the stream. */
  onEnd(): Promise<string>;
  /** The upstream failed; the result is the event that tells the client. */
  onFailure(error: unknown): Promise<string>;
  /** The client is gone, or takes nothing. `true`: read on to the end, without it. */
  onLeave(): boolean;
  /** Aborts at the deadline of the whole answer, which also ends the upstream's stream. */
  deadline: AbortSignal;
  /** How long a client may leave what waits for it unread, and the event that then ends its stream. */
  unread: { ms: number; event(): string };
}

const SILENCE_MS = 15_000;
/**
 * The least time between two writes of one stream. A model's words come further apart than this and are
 * not held up; a burst of them leaves in few pieces, and writing is what costs most.
 */
const GATHER_MS = 3;
/** How much is read ahead of a client that does not take it. */
const AHEAD_MAX = 65_536;
const encoder = new TextEncoder();

/**
 * Hands an answer on as it comes: the first words at once, what arrives together together. A client that
 * takes nothing stops the reading; a stream that fails ends with an error and without [DONE].
 */
export function relay(options: RelayOptions): ReadableStream<Uint8Array> {
  const { first, rest, writer } = options;
  let waiting = write(first);
  let lastSent = -Infinity;
  let heartbeat: ReturnType<typeof setInterval> | undefined;
  /** The upstream has said its last word; then, what follows from it is done. */
  let isEnding = false;
  let isOver = false;
  let hasLeft = false;
  let isStopped = false;
  /** When the client last took something; null while it is waiting for more. */
  let unreadSince: number | null = performance.now();
  /** Told when there is something to send, and when it was taken. */
  let filled: (() => void) | null = null;
  let emptied: (() => void) | null = null;

  function write(chunks: readonly ChatChunk[]): string {
    let text = "";
    for (const chunk of chunks) {
      options.onChunk(chunk);
      if (chunk.choices.length > 0) text += writer.chunk(chunk.choices);
    }
    return text;
  }
  /** The next text to send; empty for a sign of life. */
  async function next(): Promise<string> {
    let chunks;
    try {
      chunks = await rest.next();
      if (chunks !== null && !isEnding) return write(chunks);
    } catch (error) {
      if (!isEnding) return await end(options.onFailure(error));
    }
    return isEnding ? "" : await end(options.onEnd().then((text) => text + DONE));
  }
  function end(last: Promise<string>): Promise<string> {
    isEnding = true;
    return last;
  }
  async function readOn(): Promise<void> {
    while (!isOver && !isStopped) {
      const text = await next();
      isOver = isEnding;
      if (hasLeft) continue;
      waiting += text;
      if (waiting !== "" || isOver) filled?.();
      if (waiting.length > AHEAD_MAX && !isOver && !options.deadline.aborted) {
        await new Promise<void>((resolve) => emptied = resolve);
      }
    }
  }
  /** Without this the reading would wait for the client past the deadline, and keep the upstream's slot. */
  const wake = () => emptied?.();
  options.deadline.addEventListener("abort", wake);
  function leave(): void {
    clearInterval(heartbeat);
    options.deadline.removeEventListener("abort", wake);
    hasLeft = true;
    waiting = "";
    filled?.();
    if (isEnding) return;
    emptied?.();
    if (options.onLeave()) return;
    isEnding = true;
    isStopped = true;
    rest.cancel();
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      heartbeat = setInterval(() => {
        const hasUnread = waiting !== "" || isOver || (controller.desiredSize ?? 0) < 0;
        if (hasUnread && unreadSince !== null) {
          if (performance.now() - unreadSince < options.unread.ms) return;
          leave();
          controller.enqueue(encoder.encode(options.unread.event()));
          controller.close();
          return;
        }
        if (performance.now() - lastSent < SILENCE_MS || (controller.desiredSize ?? 0) < 0) return;
        controller.enqueue(encoder.encode(HEARTBEAT));
        lastSent = performance.now();
      }, Math.min(SILENCE_MS, options.unread.ms) / 3);
      void readOn();
    },
    async pull(controller) {
      unreadSince = null;
      if (waiting === "" && !isOver) await new Promise<void>((resolve) => filled = resolve);
      filled = null;
      const early = GATHER_MS - (performance.now() - lastSent);
      if (early > 0 && !isOver) await sleep(early);
      if (hasLeft) return;
      // Settled before the last words are out: whoever has read them finds the receipt.
      const isLast = isOver;
      if (waiting !== "") controller.enqueue(encoder.encode(waiting));
      waiting = "";
      lastSent = performance.now();
      unreadSince = lastSent;
      emptied?.();
      if (!isLast) return;
      clearInterval(heartbeat);
      options.deadline.removeEventListener("abort", wake);
      controller.close();
    },
    cancel: leave,
  }, { highWaterMark: 0 });
}
