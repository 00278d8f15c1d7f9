const FIRST_BYTES = 64 * 1024;

/** Collects the pieces of a body in one contiguous buffer, which grows as they arrive. */
export class GrowingBuffer {
  #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;

  /** `bytesMax`: the announced length, or the largest that is accepted. */
  constructor(private readonly bytesMax: number) {
    this.#bytes = new Uint8Array(Math.min(bytesMax, FIRST_BYTES));
  }

  get length(): number {
    return this.#length;
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      const capacity = Math.max(length, Math.min(this.#bytes.length * 2, this.bytesMax));
      // Frees the old memory at once, without waiting for the garbage collector.
      this.#bytes = new Uint8Array(this.#bytes.buffer.transfer(capacity));
    }
    this.#bytes.set(piece, this.#length);
    this.#length = length;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }
}
