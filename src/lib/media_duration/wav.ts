import type { ReadBytes } from "./block_reader.ts";

const CHUNKS_MAX = 200;
const HEAD_BYTES = 8;
const EXTENSIBLE = 0xfffe;
/** Samples of a fixed size: PCM, floats, A-law, µ-law. */
const PLAIN_FORMATS = new Set([1, 3, 6, 7]);

interface Chunk {
  name: string;
  /** Of its content. */
  start: number;
  length: number;
}

/**
 * Duration of a WAV by its bytes. The length in its header counts only where the rest of the file agrees with it, so
 * that a file cannot claim to be shorter than it plays. Null for compressed samples.
 */
export async function wavSeconds(read: ReadBytes, bytes: number): Promise<number | null> {
  let bytesPerSecond: number | null = null;
  let at = 12;
  for (let n = 0; n < CHUNKS_MAX; n++) {
    const chunk = await chunkAt(read, at, bytes);
    if (chunk === null) return null;
    if (chunk.name === "data") {
      if (bytesPerSecond === null) return null;
      return await dataBytes(read, chunk, bytes) / bytesPerSecond;
    }
    if (chunk.name === "fmt ") {
      // With two formats, players differ in which one they use.
      if (bytesPerSecond !== null || chunk.length < 16) return null;
      bytesPerSecond = rateOf(
        await read(chunk.start, Math.min(bytes, chunk.start + Math.min(chunk.length, 40))),
      );
    }
    at = endOf(chunk);
  }
  return null;
}

/** The announced length if other chunks follow it to the end of the file; else all remaining bytes. */
async function dataBytes(read: ReadBytes, data: Chunk, bytes: number): Promise<number> {
  const present = bytes - data.start;
  // Encoders that stream write 0 or all ones.
  if (data.length === 0 || data.length >= present) return present;
  let at = endOf(data);
  for (let n = 0; n < CHUNKS_MAX && at < bytes; n++) {
    const chunk = await chunkAt(read, at, bytes);
    const isPlausible = chunk !== null && /^[ -~]{4}$/.test(chunk.name) && chunk.name !== "data" &&
      chunk.start + chunk.length <= bytes;
    if (!isPlausible) return present;
    at = endOf(chunk);
  }
  return at >= bytes ? data.length : present;
}

async function chunkAt(read: ReadBytes, at: number, bytes: number): Promise<Chunk | null> {
  if (at + HEAD_BYTES > bytes) return null;
  const head = await read(at, at + HEAD_BYTES);
  const view = new DataView(head.buffer, head.byteOffset);
  return {
    name: String.fromCharCode(...head.subarray(0, 4)),
    start: at + HEAD_BYTES,
    length: view.getUint32(4, true),
  };
}

/** Chunks begin at even offsets. */
function endOf({ start, length }: Chunk): number {
  return start + length + length % 2;
}

/** Bytes per second by the sample format; the header's own byte rate is ignored. Null for compressed samples. */
function rateOf(format: Uint8Array): number | null {
  const view = new DataView(format.buffer, format.byteOffset, format.byteLength);
  if (format.length < 16) return null;
  const tag = view.getUint16(0, true);
  const kind = tag === EXTENSIBLE && format.length >= 26 ? view.getUint16(24, true) : tag;
  const channels = view.getUint16(2, true);
  const sampleRate = view.getUint32(4, true);
  const block = view.getUint16(12, true);
  const bits = view.getUint16(14, true);
  if (!PLAIN_FORMATS.has(kind) || block !== channels * Math.ceil(bits / 8)) return null;
  return block * sampleRate || null;
}
