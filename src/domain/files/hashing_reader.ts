import { concatBytes } from "../../lib/bytes.ts";
import { createHash } from "node:crypto";
import type { Bytes } from "./files.ts";
import { SNIFF_BYTES } from "./media_types.ts";

/** Enough for a picture's size, also behind a camera's notes. */
const HEAD_BYTES = 256 * 1024;

/** Bytes on their way in: the first are looked at before anything is stored, all are counted and hashed. */
export class HashingReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #hash = createHash("sha256");
  readonly #waiting: Uint8Array[] = [];
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  bytes = 0;

  constructor(body: Bytes | Uint8Array) {
    const chunks = body instanceof Uint8Array ? once(body) : body;
    this.#source = chunks[Symbol.asyncIterator]();
  }

  /** The beginning, long enough to tell what it is; empty when there are no bytes at all. */
  async peek(): Promise<Uint8Array> {
    for (let bytes = 0; bytes < SNIFF_BYTES;) {
      const { done, value } = await this.#source.next();
      if (done) break;
      // Its own copy: the source uses its memory again for the next piece.
      this.#waiting.push(value.slice());
      bytes += value.length;
    }
    return concatBytes(this.#waiting);
  }

  /** All bytes from the first on; `refuse` is thrown as soon as there are more than allowed. */
  async *chunks(bytesMax: number, refuse: () => Error): AsyncGenerator<Uint8Array> {
    const waiting = this.#waiting.splice(0);
    try {
      while (true) {
        const next = waiting.shift() ?? await this.#next();
        if (next === null) return;
        if (next.length === 0) continue;
        this.bytes += next.length;
        if (this.bytes > bytesMax) throw refuse();
        this.#hash.update(next);
        if (this.#headBytes < HEAD_BYTES) {
          this.#head.push(next.slice(0, HEAD_BYTES - this.#headBytes));
          this.#headBytes += next.length;
        }
        yield next;
      }
    } finally {
      await this.close();
    }
  }

  async #next(): Promise<Uint8Array | null> {
    const { done, value } = await this.#source.next();
    return done ? null : value;
  }

  /** Tells the source that nobody reads on. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }

  head(): Uint8Array {
    return concatBytes(this.#head);
  }

  /** To be asked once, at the end. */
  sha256(): string {
    return this.#hash.digest("hex");
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  if (bytes.length > 0) yield bytes;
}
