import { createHash } from "node:crypto";

const BYTES_MAX = 64 * 1024 * 1024;

/** Audio that avatars speak with, in memory; the oldest is evicted when there is too much. */
export class AudioStore {
  readonly #stored = new Map<string, Uint8Array<ArrayBuffer>>();
  #length = 0;

  add(bytes: Uint8Array<ArrayBuffer>): void {
    const id = audioId(bytes);
    if (this.#stored.has(id)) return;
    this.#stored.set(id, bytes);
    this.#length += bytes.length;
    for (const [oldest, { length }] of this.#stored) {
      if (this.#length <= BYTES_MAX) break;
      this.#stored.delete(oldest);
      this.#length -= length;
    }
  }

  get(id: string): Uint8Array<ArrayBuffer> | undefined {
    return this.#stored.get(id);
  }
}

export function audioId(bytes: Uint8Array<ArrayBuffer>): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}
