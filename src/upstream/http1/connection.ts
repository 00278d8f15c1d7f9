import { ChunkDecoder } from "./chunks.ts";
import { InvalidResponse, parseHead, type ResponseHead } from "./head.ts";

const BUFFER_BYTES = 16_384;
const decoder = new TextDecoder();

/**
 * One connection and the answers that come over it, one after the other. Everything is read into one
 * buffer: a read takes whatever has arrived, be it the head, a hundred chunks, or both.
 */
export class Http1Connection {
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  /** What of the buffer was read and not used yet. */
  #from = 0;
  #to = 0;
  /** Begun while nothing was asked: that is how we learn that the other side has closed. */
  #reading: Promise<number | null> | null = null;
  #isResting = false;
  #isWritten = true;
  #isClosed = false;
  #isHeard = false;

  constructor(private readonly socket: Deno.Conn) {}

  /** Whether anything was answered to the last request. */
  get hasReceived(): boolean {
    return this.#isHeard;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Sends a request, whose body may stand apart, and reads the answer's head. */
  async sendRequest(request: Uint8Array, content: Uint8Array | null = null): Promise<ResponseHead> {
    this.#isResting = false;
    this.#isHeard = false;
    this.#isWritten = false;
    // Not waited for: a server that refuses a long request answers before it has read it.
    this.#write(request, content).then(() => this.#isWritten = true, () => undefined);
    while (true) {
      const head = await this.#head();
      if (head.status === 101) throw new InvalidResponse("the answer changes the protocol");
      if (head.status >= 200) return head;
    }
  }

  /** The answer's body; `onEnd` is told whether the connection can be used again. */
  body(head: ResponseHead, onEnd: (isReusable: boolean) => void): Body {
    return new Body(this, head, (isWhole) => {
      const isReusable = isWhole && head.isKept && this.#isWritten && this.#from === this.#to;
      if (!isReusable) this.close();
      onEnd(isReusable);
    });
  }

  /** Waits for the next request. `onGone` is called if the other side closes or speaks out of turn. */
  waitIdle(onGone: () => void): void {
    this.#isResting = true;
    this.#from = this.#to = 0;
    const gone = () => {
      if (this.#isResting) onGone();
    };
    this.#reading = this.socket.read(this.#buffer);
    this.#reading.then(gone, gone);
  }

  close(): void {
    this.#isResting = false;
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.socket.close();
  }

  /** Up to `max` bytes of what is there. */
  take(max: number): Uint8Array {
    const from = this.#from;
    this.#from = Math.min(this.#to, from + max);
    return this.#buffer.subarray(from, this.#from);
  }

  /** What is there of a chunked body, without its framing. */
  takeChunked(chunks: ChunkDecoder): Uint8Array {
    const from = this.#from;
    const end = chunks.pack(this.#buffer, from, this.#to);
    this.#from = chunks.next;
    return this.#buffer.subarray(from, end);
  }

  /** Reads what has arrived, or waits for it. False at the end of the connection. */
  async readMore(): Promise<boolean> {
    if (this.#from === this.#to) this.#from = this.#to = 0;
    if (this.#to === BUFFER_BYTES) throw new InvalidResponse("the answer's head is too long");
    const reading = this.#reading ?? this.socket.read(this.#buffer.subarray(this.#to));
    this.#reading = null;
    const bytes = await reading;
    if (bytes === null) return false;
    this.#isHeard = true;
    this.#to += bytes;
    return true;
  }

  async #head(): Promise<ResponseHead> {
    // Bytes from #from on that hold no end; filling the buffer may move #from.
    let searched = 0;
    while (true) {
      const end = headEnd(this.#buffer, this.#from + searched, this.#to);
      if (end !== -1) {
        const text = decoder.decode(this.#buffer.subarray(this.#from, end));
        this.#from = end + 4;
        return parseHead(text);
      }
      searched = Math.max(0, this.#to - this.#from - 3);
      // Several heads may stand in the buffer, so this one need not begin at its start.
      if (this.#to === BUFFER_BYTES && this.#from > 0) {
        this.#buffer.copyWithin(0, this.#from, this.#to);
        this.#to -= this.#from;
        this.#from = 0;
      }
      if (!await this.readMore()) {
        throw new InvalidResponse("the connection closed before the answer");
      }
    }
  }

  async #write(bytes: Uint8Array, content: Uint8Array | null): Promise<void> {
    for (let at = 0; at < bytes.length;) at += await this.socket.write(bytes.subarray(at));
    if (content !== null) await this.#write(content, null);
  }
}

/** An answer's body, piece by piece. A piece is only good until the next is asked for. */
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
        // Only a body without any other end ends with its connection.
        if (this.#chunks === null && this.#left === Infinity) break;
        throw new InvalidResponse("the connection closed in the middle of the answer");
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

/** Where the empty line begins that ends a head; -1 where it has not come yet. */
function headEnd(bytes: Uint8Array, from: number, to: number): number {
  for (let at = from; at + 3 < to; at++) {
    if (
      bytes[at] === 13 && bytes[at + 1] === 10 && bytes[at + 2] === 13 && bytes[at + 3] === 10
    ) return at;
  }
  return -1;
}
