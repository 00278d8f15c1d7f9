const BUFFER_BYTES = 16_384;

/** Reads a body piece by piece. A piece is only good until the next is asked for. */
export interface BodyReader {
  /** The next piece; null at the end. */
  read(): Promise<Uint8Array | null>;
  cancel(): void;
}

/**
 * What comes over the network is read into one buffer again and again: by itself the runtime would
 * make, clear and throw away 64 KiB for every event of a stream, which costs more than the event.
 */
export function openBody(body: ReadableStream<Uint8Array>): BodyReader {
  try {
    return new BufferReader(body.getReader({ mode: "byob" }));
  } catch {
    // A body made in this process is no byte stream, and its pieces are already there.
    return new PieceReader(body.getReader());
  }
}

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
