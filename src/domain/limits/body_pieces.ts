import { ApiError } from "../../lib/api_error.ts";

/** This many pieces may be of any size. */
const FREE_PIECES = 1_000;
/** Minimum average size of the pieces after that. */
const AVERAGE_BYTES_MIN = 256;
/** How many pieces all bodies together may read before the event loop runs other tasks. */
const PIECES_PER_TURN = 64;

/** Counts the pieces of one body: each costs the thread the same, however small it is. */
export class PieceCounter {
  #pieces = 0;
  #bytes = 0;

  /** Throws the API error if a body arrives in too many small pieces. */
  add(bytes: number): void {
    this.#pieces++;
    this.#bytes += bytes;
    if (this.#pieces <= FREE_PIECES || this.#bytes >= this.#pieces * AVERAGE_BYTES_MIN) return;
    throw new ApiError(
      "invalid_value",
      "The body comes in too many small pieces: send it in larger ones.",
    );
  }
}

let piecesThisTurn = 0;
let pause: Promise<void> | null = null;

/**
 * To be awaited after each piece if it returns a promise. A read whose bytes have arrived ends
 * without leaving the microtask queue, so that a body could keep timers and other requests waiting.
 */
export function pauseBetweenPieces(): Promise<void> | null {
  if (pause === null && ++piecesThisTurn < PIECES_PER_TURN) return null;
  return pause ??= new Promise((resolve) =>
    setTimeout(() => {
      pause = null;
      piecesThisTurn = 0;
      resolve();
    })
  );
}
