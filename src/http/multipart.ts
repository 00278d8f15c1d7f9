import { ApiError } from "../lib/api_error.ts";
import { readDisposition, readParameters } from "./form_disposition.ts";
import { pauseBetweenPieces, PieceCounter } from "../domain/limits/body_pieces.ts";
import { CutBody } from "../domain/limits/cut_body.ts";
import { type BodyPace, isTooSlow, PACE, tooSlow } from "../domain/limits/paced_reads.ts";
import { withTimeout } from "../lib/timers.ts";

/** A part of a form while it arrives. Bytes from `content` are valid until the next read. */
export interface FormPart {
  name: string;
  /** Null for a plain field. */
  filename: string | null;
  /** May be read or skipped; the next part starts after its end either way. */
  content: AsyncIterable<Uint8Array>;
}

export interface FormOptions {
  pace?: BodyPace | undefined;
  /** Called when the end of the body was reached, which may be after the end of the form. */
  onEnd?: () => void;
}

/**
 * Bytes per read. The server allocates that much for each read and frees it late: with 16 KiB the memory of a
 * process stays constant, with 64 KiB it grows by a quarter of what passes through.
 */
const READ_BYTES = 16 * 1024;
const WINDOW_BYTES = 2 * READ_BYTES;
/** Small reads are collected up to this size before they are parsed and stored. */
const GATHERED_BYTES = 4 * 1024;
const HEAD_BYTES_MAX = 8 * 1024;
const BOUNDARY_CHARACTERS_MAX = 70;
const CR = 13;
const LF = 10;
const DASH = 45;

/**
 * Reads multipart/form-data (RFC 7578) through one buffer: a form of any size needs the same memory and makes
 * no garbage.
 */
export async function* readMultipartForm(
  source: ReadableStream<Uint8Array>,
  contentType: string,
  { pace = PACE, onEnd = () => {} }: FormOptions = {},
): AsyncGenerator<FormPart, void> {
  const boundary = boundaryOf(contentType);
  if (boundary === null) throw broken("no boundary");
  const window = new Window(source, new TextEncoder().encode(`\r\n--${boundary}`), {
    pace,
    onEnd,
  });
  try {
    for await (const _ of window.untilBoundary()) {
      // The preamble before the first part is ignored.
    }
    while (await window.hasPart()) {
      const { name, filename } = readHead(await window.head());
      const content = window.untilBoundary();
      yield { name, filename, content };
      for await (const _ of content) {
        // Skips what the caller did not read.
      }
    }
  } finally {
    await window.close();
  }
}

/** A window that moves along the body. */
class Window {
  readonly #source: Source;
  #bytes = new Uint8Array(WINDOW_BYTES);
  #start = 0;
  /** Starts with an added line break, which the first boundary lacks. */
  #end = 2;
  /** Time spent waiting for the client, without the time for storing. */
  #waitedMs = 0;
  #received = 0;
  #isAtEnd = false;
  readonly #counter = new PieceCounter();

  constructor(
    source: ReadableStream<Uint8Array>,
    private readonly boundary: Uint8Array,
    private readonly options: Required<FormOptions>,
  ) {
    this.#source = sourceOf(source);
    this.#bytes.set([CR, LF]);
  }

  /** Yields the bytes before the next boundary, and moves behind it. */
  async *untilBoundary(): AsyncGenerator<Uint8Array> {
    while (true) {
      const { at, found } = this.#find();
      if (at > this.#start) {
        const piece = this.#bytes.subarray(this.#start, at);
        this.#start = at;
        yield piece;
      }
      if (found) {
        this.#start += this.boundary.length;
        return;
      }
      if (!await this.#more()) throw broken("it ends in the middle");
    }
  }

  /** Where the boundary begins, or up to where there is certainly none. */
  #find(): { at: number; found: boolean } {
    const bytes = this.#bytes.subarray(0, this.#end);
    let at = bytes.indexOf(CR, this.#start);
    for (; at !== -1; at = bytes.indexOf(CR, at + 1)) {
      let same = 1;
      while (same < this.boundary.length && bytes[at + same] === this.boundary[same]) same++;
      if (same === this.boundary.length) return { at, found: true };
      // It may continue in bytes that have not arrived yet.
      if (at + same === this.#end) return { at, found: false };
    }
    return { at: this.#end, found: false };
  }

  /** Whether a part follows the boundary, or the end of the form. */
  async hasPart(): Promise<boolean> {
    const [first, second] = [await this.#next(), await this.#next()];
    if (first === DASH && second === DASH) return false;
    if (first !== CR || second !== LF) throw broken("a boundary goes on");
    return true;
  }

  async #next(): Promise<number> {
    if (this.#start === this.#end && !await this.#more()) throw broken("it ends in the middle");
    return this.#bytes[this.#start++]!;
  }

  /** The lines at the top of a part, up to the empty one. */
  async head(): Promise<string> {
    const head: number[] = [];
    while (head.length < HEAD_BYTES_MAX) {
      head.push(await this.#next());
      if (head.at(-1) !== LF || head.at(-2) !== CR) continue;
      if (head.length === 2 || (head.at(-3) === LF && head.at(-4) === CR)) {
        return new TextDecoder().decode(new Uint8Array(head));
      }
    }
    throw broken("the head of a part is too long");
  }

  /** Reads more. False at the end of the body. */
  async #more(): Promise<boolean> {
    this.#bytes.copyWithin(0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#start = 0;
    const before = this.#end;
    while (!this.#isAtEnd && this.#end - before < GATHERED_BYTES) await this.#readOnce();
    return this.#end > before;
  }

  async #readOnce(): Promise<void> {
    const { bytes, length } = await this.#withIdleLimit(this.#source.read(this.#bytes, this.#end));
    this.#bytes = bytes;
    this.#end += length;
    this.#isAtEnd = length === 0;
    if (this.#isAtEnd) return this.options.onEnd();
    this.#received += length;
    this.#counter.add(length);
    if (isTooSlow(this.options.pace, this.#waitedMs, 0, this.#received)) throw tooSlow();
    const pause = pauseBetweenPieces();
    if (pause !== null) await pause;
  }

  async #withIdleLimit<T>(reading: Promise<T>): Promise<T> {
    const since = performance.now();
    try {
      return await withTimeout(reading, this.options.pace.graceMs, () => {
        throw tooSlow();
      });
    } catch (error) {
      throw error instanceof ApiError ? error : new CutBody(error);
    } finally {
      this.#waitedMs += performance.now() - since;
    }
  }

  async close(): Promise<void> {
    // Rejects if the client has disconnected already.
    await this.#source.cancel().catch(() => {});
  }
}

interface Source {
  /**
   * Reads into `bytes` from `at` on and answers the same memory, which may have moved to another object,
   * and how much was read; 0 at the end.
   */
  read(
    bytes: Uint8Array<ArrayBuffer>,
    at: number,
  ): Promise<{ bytes: Uint8Array<ArrayBuffer>; length: number }>;
  cancel(): Promise<void>;
}

function sourceOf(stream: ReadableStream<Uint8Array>): Source {
  try {
    return lending(stream.getReader({ mode: "byob" }));
  } catch {
    // The server has a short body in memory already, and gives it as it is.
    return copying(stream.getReader());
  }
}

/** The server writes into our memory. */
function lending(reader: ReadableStreamBYOBReader): Source {
  return {
    async read({ buffer }, at) {
      const { value } = await reader.read(new Uint8Array(buffer, at, READ_BYTES));
      if (value === undefined) throw broken("it was cut off");
      return { bytes: new Uint8Array(value.buffer), length: value.length };
    },
    cancel: () => reader.cancel(),
  };
}

function copying(reader: ReadableStreamDefaultReader<Uint8Array>): Source {
  let left = new Uint8Array();
  return {
    async read(bytes, at) {
      while (left.length === 0) {
        const { done, value } = await reader.read();
        if (done) return { bytes, length: 0 };
        left = new Uint8Array(value);
      }
      const piece = left.subarray(0, READ_BYTES);
      left = left.subarray(piece.length);
      bytes.set(piece, at);
      return { bytes, length: piece.length };
    },
    cancel: () => reader.cancel(),
  };
}

function boundaryOf(contentType: string): string | null {
  const parameters = readParameters(contentType, contentType.indexOf(";"));
  const boundary = parameters?.get("boundary") ?? "";
  return boundary !== "" && boundary.length <= BOUNDARY_CHARACTERS_MAX ? boundary : null;
}

function readHead(head: string): { name: string; filename: string | null } {
  const disposition = readDisposition(head);
  if (disposition === null) throw broken("a part does not say what it is");
  const { name, filename = null } = disposition;
  if (name === undefined) throw broken("a part has no name");
  return { name, filename };
}

export function broken(cause: unknown): ApiError {
  return new ApiError(
    "invalid_value",
    "The form cannot be read: it is cut off, or not as multipart/form-data is written.",
    { cause },
  );
}
