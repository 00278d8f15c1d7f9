import { ChunkDecoder } from "./chunks.ts";
import { InvalidResponse, parseHead, type ResponseHead } from "./head.ts";

const BUFFER_BYTES = 16_384;
const decoder = new TextDecoder();

/**
 * One connection and its responses, one after the other. All of them are read into one buffer: a read takes
 * all bytes that have arrived, which may be the head, a hundred chunks, or both.
 */
export class Http1Connection {
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  /** The part of the buffer that was read from the socket and not used yet. */
  #from = 0;
  #to = 0;
  /** Started while the connection is idle: it ends when the server closes the connection. */
  #reading: Promise<number | null> | null = null;
  #isIdle = false;
  #isWritten = true;
  #isClosed = false;
  #hasReceived = false;

  constructor(private readonly socket: Deno.Conn) {}

  /** Whether any byte of a response to the last request arrived. */
  get hasReceived(): boolean {
    return this.#hasReceived;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Sends a request, whose body may be separate, and reads the response's head. */
  async sendRequest(request: Uint8Array, content: Uint8Array | null = null): Promise<ResponseHead> {
    this.#isIdle = false;
    this.#hasReceived = false;
    this.#isWritten = false;
    // Not awaited: a server that rejects a long request responds before it has read it.
    this.#write(request, content).then(() => this.#isWritten = true, () => undefined);
    while (true) {
      const head = await this.#head();
      if (head.status === 101) throw new InvalidResponse("the response changes the protocol");
      if (head.status >= 200) return head;
    }
  }

  /** The response's body. `onEnd` gets whether the connection can be reused. */
  body(head: ResponseHead, onEnd: (isReusable: boolean) => void): Body {
    return new Body(this, head, (isWhole) => {
      const isReusable = isWhole && head.isKept && this.#isWritten && this.#from === this.#to;
      if (!isReusable) this.close();
      onEnd(isReusable);
    });
  }

  /** Makes the connection idle. `onGone` is called if the server closes it or sends bytes without a request. */
  waitIdle(onGone: () => void): void {
    this.#isIdle = true;
    this.#from = this.#to = 0;
    const gone = () => {
      if (this.#isIdle) onGone();
    };
    this.#reading = this.socket.read(this.#buffer);
    this.#reading.then(gone, gone);
  }

  close(): void {
    this.#isIdle = false;
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.socket.close();
  }

  /** Up to `max` bytes that have arrived. */
  take(max: number): Uint8Array {
    const from = this.#from;
    this.#from = Math.min(this.#to, from + max);
    return this.#buffer.subarray(from, this.#from);
  }

  /** The content of a chunked body that has arrived, without its framing. */
  takeChunked(chunks: ChunkDecoder): Uint8Array {
    const from = this.#from;
    const end = chunks.pack(this.#buffer, from, this.#to);
    this.#from = chunks.next;
    return this.#buffer.subarray(from, end);
  }

  /** Reads the next bytes, or waits for them. False if the connection was closed. */
  async readMore(): Promise<boolean> {
    if (this.#from === this.#to) this.#from = this.#to = 0;
    if (this.#to === BUFFER_BYTES) throw new InvalidResponse("the response's head is too long");
    const reading = this.#reading ?? this.socket.read(this.#buffer.subarray(this.#to));
    this.#reading = null;
    const bytes = await reading;
    if (bytes === null) return false;
    this.#hasReceived = true;
    this.#to += bytes;
    return true;
  }

  async #head(): Promise<ResponseHead> {
    // How many bytes after #from were searched; filling the buffer may move #from.
    let searched = 0;
    while (true) {
      const end = headEnd(this.#buffer, this.#from + searched, this.#to);
      if (end !== -1) {
        const text = decoder.decode(this.#buffer.subarray(this.#from, end));
        this.#from = end + 4;
        return parseHead(text);
      }
      searched = Math.max(0, this.#to - this.#from - 3);
      // The buffer may contain several heads: moves this one to the start to make room.
      if (this.#to === BUFFER_BYTES && this.#from > 0) {
        this.#buffer.copyWithin(0, this.#from, this.#to);
        this.#to -= this.#from;
        this.#from = 0;
      }
      if (!await this.readMore()) {
        throw new InvalidResponse("the connection closed before the response");
      }
    }
  }

  async #write(bytes: Uint8Array, content: Uint8Array | null): Promise<void> {
    for (let at = 0; at < bytes.length;) at += await this.socket.write(bytes.subarray(at));
    if (content !== null) await this.#write(content, null);
  }
}

/** Reads a response's body in pieces. A piece is valid only until the next read. */
class Body {
  readonly #chunks: ChunkDecoder | null;
  #left: number;
  #isOver = false;

  constructor(
    private readonly connection: Http1Connection,
    head: ResponseHead,
    private readonly onEnd: (isWhole: boolean) => void,
  ) {
    this.#chunks = head.framing === "chunked" ? new ChunkDecoder() : null;
    this.#left = typeof head.framing === "number" ? head.framing : Infinity;
  }

  /** The next piece; null at the end. */
  async read(): Promise<Uint8Array | null> {
    if (this.#isOver) return null;
    try {
      while (true) {
        const piece = this.#next();
        if (piece.length > 0) return piece;
        if (this.#isComplete()) break;
        if (await this.connection.readMore()) continue;
        // Without a length and chunks, the end of the connection is the end of the body.
        if (this.#chunks === null && this.#left === Infinity) break;
        throw new InvalidResponse("the connection closed in the middle of the response");
      }
    } catch (error) {
      this.#end(false);
      throw error;
    }
    this.#end(true);
    return null;
  }

  cancel(): void {
    this.#end(false);
  }

  #next(): Uint8Array {
    if (this.#chunks !== null) return this.connection.takeChunked(this.#chunks);
    const piece = this.connection.take(this.#left);
    this.#left -= piece.length;
    return piece;
  }

  #isComplete(): boolean {
    return this.#chunks === null ? this.#left === 0 : this.#chunks.isDone;
  }

  #end(isWhole: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onEnd(isWhole);
  }
}

/** The index of the empty line that ends a head; -1 if it has not arrived. */
function headEnd(bytes: Uint8Array, from: number, to: number): number {
  for (let at = from; at + 3 < to; at++) {
    if (
      bytes[at] === 13 && bytes[at + 1] === 10 && bytes[at + 2] === 13 && bytes[at + 3] === 10
    ) return at;
  }
  return -1;
}
