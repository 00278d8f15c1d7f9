const BUFFER_BYTES = 16_384;

/** Reads a body in pieces. A piece is valid only until the next read. */
export interface BodyReader {
  /** The next piece; null at the end. */
  read(): Promise<Uint8Array | null>;
  /** Stops reading. A body that has failed already rejects this, which changes nothing. */
  cancel(): void;
}

/**
 * Reads from the network into one buffer again and again: the runtime itself would allocate and clear 64 KiB
 * for every event of a stream, which costs more than the event.
 */
export function openBody(body: ReadableStream<Uint8Array>): BodyReader {
  try {
    return new BufferReader(body.getReader({ mode: "byob" }));
  } catch {
    // A body made in this process is no byte stream, and its pieces are already there.
    return new PieceReader(body.getReader());
  }
}

/** The body of a response without one. */
export const NO_BODY: BodyReader = { read: () => Promise.resolve(null), cancel() {} };

class BufferReader implements BodyReader {
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(BUFFER_BYTES);

  constructor(private readonly reader: ReadableStreamBYOBReader) {}

  async read(): Promise<Uint8Array | null> {
    const { done, value } = await this.reader.read(this.#buffer);
    if (done || value === undefined) return null;
    this.#buffer = new Uint8Array(value.buffer as ArrayBuffer);
    return value;
  }

  cancel(): void {
    this.reader.cancel().catch(() => undefined);
  }
}

class PieceReader implements BodyReader {
  constructor(private readonly reader: ReadableStreamDefaultReader<Uint8Array>) {}

  async read(): Promise<Uint8Array | null> {
    const { done, value } = await this.reader.read();
    return done ? null : value;
  }

  cancel(): void {
    this.reader.cancel().catch(() => undefined);
  }
}
