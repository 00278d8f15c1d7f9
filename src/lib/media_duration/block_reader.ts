/** Where the bytes of a file come from. */
export interface MediaSource {
  /** Some bytes, the last included. */
  range(first: number, last: number): Promise<Uint8Array>;
  /** All bytes from the first on. */
  all(): AsyncIterable<Uint8Array>;
}

/** What is known of a file before it is read. */
export interface MediaFile {
  readonly mimeType: string;
  readonly bytes: number;
  /** The first bytes. */
  readonly head: Uint8Array;
}

/** Reads the bytes from `start` to before `end`. */
export type ReadBytes = (start: number, end: number) => Promise<Uint8Array>;

const BLOCK_BYTES = 64 * 1024;
/** A file whose tables need more blocks is not read on, to bound the memory. */
const BLOCKS_MAX = 64;

/** Serves small reads from blocks of the source. Throws when a file needs too many blocks. */
export function blockReader(source: MediaSource, { bytes, head }: MediaFile): ReadBytes {
  const blocks = new Map<number, Promise<Uint8Array>>();
  async function load(index: number): Promise<Uint8Array> {
    const first = index * BLOCK_BYTES;
    const last = Math.min(first + BLOCK_BYTES, bytes) - 1;
    if (last < head.length) return head.subarray(first, last + 1);
    return await source.range(first, last);
  }
  return async function read(start: number, end: number): Promise<Uint8Array> {
    const wanted = new Uint8Array(end - start);
    for (let at = start; at < end;) {
      const index = Math.floor(at / BLOCK_BYTES);
      if (!blocks.has(index)) {
        if (blocks.size >= BLOCKS_MAX) throw new Error("the file's tables are too large");
        blocks.set(index, load(index));
      }
      const block = await blocks.get(index)!;
      const part = block.subarray(at - index * BLOCK_BYTES, end - index * BLOCK_BYTES);
      wanted.set(part, at - start);
      at += part.length;
    }
    return wanted;
  };
}
