import type { ChatChunk } from "../upstream/adapter.ts";
import type { ChunkStream } from "../upstream/call_chat.ts";
import { type ChunkWriter, DONE, HEARTBEAT } from "./render.ts";

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
  /** The client is gone. `true`: read on to the end, without it. */
  onLeave(): boolean;
}

const SILENCE_MS = 15_000;
const encoder = new TextEncoder();

/**
 * Hands an answer on as it comes. What arrives together leaves together, nothing is read before the
 * client has taken what was there, and a stream that fails ends with an error and without [DONE].
 */
export function relay(options: RelayOptions): ReadableStream<Uint8Array> {
  const { first, rest, writer } = options;
  let lastSent = performance.now();
  let heartbeat: ReturnType<typeof setInterval> | undefined;
  let isOver = false;

  function write(chunks: readonly ChatChunk[]): string {
    let text = "";
    for (const chunk of chunks) {
      options.onChunk(chunk);
      if (chunk.choices.length > 0) text += writer.chunk(chunk.choices);
    }
    return text;
  }
  /** The next text to send; null when that was all. */
  async function next(): Promise<string | null> {
    try {
      const chunks = await rest.next();
      if (chunks !== null) return write(chunks);
      isOver = true;
      return await options.onEnd() + DONE;
    } catch (error) {
      isOver = true;
      return await options.onFailure(error);
    }
  }
  async function drain(): Promise<void> {
    while (!isOver) await next();
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(write(first)));
      heartbeat = setInterval(() => {
        if (performance.now() - lastSent < SILENCE_MS || (controller.desiredSize ?? 0) < 0) return;
        controller.enqueue(encoder.encode(HEARTBEAT));
        lastSent = performance.now();
      }, SILENCE_MS / 3);
    },
    async pull(controller) {
      // A sign of life without content is no reason to come back empty-handed.
      while (true) {
        const text = await next();
        if (text !== null && text !== "") {
          controller.enqueue(encoder.encode(text));
          lastSent = performance.now();
        }
        if (isOver) {
          clearInterval(heartbeat);
          controller.close();
          return;
        }
        if (text !== "") return;
      }
    },
    cancel() {
      clearInterval(heartbeat);
      if (isOver) return;
      if (options.onLeave()) void drain();
      else rest.cancel();
    },
  }, { highWaterMark: 0 });
}
