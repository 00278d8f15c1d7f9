const FIRST_BYTES = 1024;

/** The beginning of a body as a copy, and the size of all of it. */
export class NotedBody {
  /** Of the whole body so far. */
  size = 0;
  #buffer = new Uint8Array();
  #length = 0;

  constructor(private readonly bytesMax: number) {}

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Memory that it takes. */
  get capacity(): number {
    return this.#buffer.length;
  }

  /** Memory that it takes after `add`. It grows by doubling, so that a stream of small events is not copied often. */
  capacityFor({ length }: Uint8Array): number {
    const needed = Math.min(this.bytesMax, this.#length + length);
    if (needed <= this.capacity) return this.capacity;
    return Math.min(this.bytesMax, Math.max(needed, FIRST_BYTES, this.capacity * 2));
  }

  add(bytes: Uint8Array): void {
    const capacity = this.capacityFor(bytes);
    if (capacity > this.capacity) {
      const grown = new Uint8Array(capacity);
      grown.set(this.bytes);
      this.#buffer = grown;
    }
    const kept = bytes.subarray(0, this.capacity - this.#length);
    this.#buffer.set(kept, this.#length);
    this.#length += kept.length;
    this.size += bytes.length;
  }
}
