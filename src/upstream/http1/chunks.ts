import { InvalidResponse } from "./head.ts";

const CR = 13;
const LF = 10;
/** The limit of chunk extensions and trailers, which are ignored. */
const EXTRA_BYTES_MAX = 16_384;
const SIZE_DIGITS_MAX = 12;

/** The decoder's states. Numbers, because the state is checked for every byte. */
const SIZE = 0;
const EXTENSION = 1;
const SIZE_END = 2;
const DATA = 3;
const DATA_CR = 4;
const DATA_LF = 5;
const TRAILER = 6;
const TRAILER_LINE = 7;
const TRAILER_LF = 8;
const END_LF = 9;
const END = 10;

/** Removes the framing of a chunked body, whose bytes may arrive split at any place. */
export class ChunkDecoder {
  #at = SIZE;
  #left = 0;
  #digits = 0;
  #extra = 0;
  #next = 0;

  get isDone(): boolean {
    return this.#at === END;
  }

  /** The index of the first byte that was not decoded; after the end of the body, the byte behind it. */
  get next(): number {
    return this.#next;
  }

  /**
   * Moves the content of all chunks in `bytes` together, to `from`: chunks that arrived together are read as
   * one piece, without another buffer. Returns the end of the piece.
   */
  pack(bytes: Uint8Array, from: number, to: number): number {
    let [at, end] = [from, from];
    while (at < to && this.#at !== END) {
      if (this.#at === DATA) {
        const length = Math.min(this.#left, to - at);
        if (end !== at) bytes.copyWithin(end, at, at + length);
        at += length;
        end += length;
        this.#left -= length;
        if (this.#left === 0) this.#at = DATA_CR;
      } else {
        this.#step(bytes[at++]!);
      }
    }
    this.#next = at;
    return end;
  }

  #step(byte: number): void {
    switch (this.#at) {
      case SIZE:
        return this.#size(byte);
      case EXTENSION:
        if (byte === CR) this.#at = SIZE_END;
        else this.#skip(byte);
        return;
      case SIZE_END:
        expect(byte, LF);
        this.#at = this.#left === 0 ? TRAILER : DATA;
        this.#digits = 0;
        return;
      case DATA_CR:
        expect(byte, CR);
        this.#at = DATA_LF;
        return;
      case DATA_LF:
        expect(byte, LF);
        this.#at = SIZE;
        return;
      case TRAILER:
      case TRAILER_LINE:
        if (byte === CR) this.#at = this.#at === TRAILER ? END_LF : TRAILER_LF;
        else {
          this.#skip(byte);
          this.#at = TRAILER_LINE;
        }
        return;
      case TRAILER_LF:
        expect(byte, LF);
        this.#at = TRAILER;
        return;
      case END_LF:
        expect(byte, LF);
        this.#at = END;
    }
  }

  #size(byte: number): void {
    const digit = digitOf(byte);
    if (digit !== -1) {
      if (++this.#digits > SIZE_DIGITS_MAX) {
        throw new InvalidResponse("a chunk's size is too large");
      }
      this.#left = this.#left * 16 + digit;
      return;
    }
    if (this.#digits === 0) throw new InvalidResponse("a chunk's size cannot be read");
    if (byte === CR) this.#at = SIZE_END;
    // A semicolon begins an extension; some servers pad the size with blanks.
    else if (byte === 59 || byte === 32 || byte === 9) this.#at = EXTENSION;
    else throw new InvalidResponse("a chunk's size cannot be read");
  }

  #skip(byte: number): void {
    if (byte === LF || ++this.#extra > EXTRA_BYTES_MAX) {
      throw new InvalidResponse("a chunk extension or trailer cannot be read");
    }
  }
}

function expect(byte: number, wanted: number): void {
  if (byte !== wanted) throw new InvalidResponse("a chunk does not end where it should");
}

function digitOf(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
