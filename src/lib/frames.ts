import { deserialize, serialize } from "node:v8";

/** Messages between processes, each behind its length: structured clones, so that bytes stay bytes. */

const HEAD_BYTES = 4;
/** More than any job has; a length beyond it is no message of ours. */
const FRAME_BYTES_MAX = 1024 * 1024 * 1024;

export function frameOf(message: unknown): Uint8Array {
  const body = serialize(message);
  const frame = new Uint8Array(HEAD_BYTES + body.length);
  new DataView(frame.buffer).setUint32(0, body.length);
  frame.set(body, HEAD_BYTES);
  return frame;
}

/** The messages of a stream, one after another. Throws where it holds anything else. */
export async function* messagesIn(stream: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  const head = new Uint8Array(HEAD_BYTES);
  let body: Uint8Array<ArrayBuffer> | null = null;
  let filled = 0;
  for await (const piece of stream) {
    for (let at = 0; at < piece.length;) {
      const target = body ?? head;
      const part = piece.subarray(at, at + target.length - filled);
      target.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < target.length) continue;
      filled = 0;
      if (body === null) {
        const length = new DataView(head.buffer).getUint32(0);
        if (length > FRAME_BYTES_MAX) throw new RangeError("the message is too long");
        body = new Uint8Array(length);
      } else {
        const whole = body;
        body = null;
        yield deserialize(whole);
      }
    }
  }
}
