/**
 * While it is read, decoded, parsed and sent on, a body is in memory about four times; what a running stream
 * keeps of it is one copy.
 */
const KEPT_SHARE = 4;
/** Memory that a piece costs in addition to its bytes. */
const PIECE_BYTES = 256;

/** Counts reservations. Both methods throw the API error if the limit is reached. */
interface Counts {
  reserve(bytes: number): void;
  arrive(bytes: number): void;
  finishReading(): void;
  release(): void;
}

/** Memory reserved for one request. Releasing it again does nothing. */
export class BodyReservation {
  #reserved = 0;
  #arrived = 0;
  #bytes = 0;
  #isOver = false;
  /** A stream goes on with the request, and releases this at its end. */
  isKept = false;
  /** Aborts the reading if other requests need the memory. */
  onCancel: ((error: Error) => void) | null = null;

  constructor(private readonly counts: Counts) {}

  get reserved(): number {
    return this.#reserved;
  }

  get arrived(): number {
    return this.#arrived;
  }

  /** From the account's own share. */
  reserve(bytes: number): void {
    this.counts.reserve(bytes);
    this.#reserved += bytes;
  }

  /** Counts a received piece. */
  arrive(bytes: number): void {
    if (this.#isOver) return;
    this.#bytes += bytes;
    if (this.#bytes > this.#reserved) this.reserve(this.#bytes - this.#reserved);
    this.counts.arrive(bytes + PIECE_BYTES);
    this.#arrived += bytes + PIECE_BYTES;
  }

  /** The body is complete: releases the cost of its pieces. */
  finishReading(): void {
    if (this.#isOver) return;
    this.counts.finishReading();
    this.#shrink(this.#bytes);
  }

  /** The request was sent on: from now on it takes less, until its stream ends. */
  keep(): void {
    if (this.#isOver || this.isKept) return;
    this.isKept = true;
    this.#shrink(Math.ceil(this.#bytes / KEPT_SHARE));
  }

  cancel(error: Error): void {
    this.onCancel?.(error);
    this.release();
  }

  release(): void {
    if (this.#isOver) return;
    this.#shrink(0);
    this.#isOver = true;
    this.counts.release();
  }

  #shrink(bytes: number): void {
    this.counts.reserve(bytes - this.#reserved);
    this.counts.arrive(bytes - this.#arrived);
    this.#reserved = bytes;
    this.#arrived = bytes;
  }
}
