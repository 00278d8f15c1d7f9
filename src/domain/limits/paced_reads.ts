import { ApiError } from "../../lib/api_error.ts";
import { pauseBetweenPieces, PieceCounter } from "./body_pieces.ts";
import { CutBody } from "./cut_body.ts";
import { periodic, rethrow } from "../../lib/timers.ts";

/** Minimum speed of request bodies. */
export interface BodyPace {
  /** Maximum silence, and the time before the rate is checked. */
  graceMs: number;
  /** Minimum average rate after that. */
  bytesPerSecond: number;
}

/** Larger bodies must arrive faster, in proportion, ... */
const USUAL_BYTES = 1024 * 1024;
/** ... up to so many times as fast. */
const FASTER_MAX = 16;

export const PACE: BodyPace = { graceMs: 30_000, bytesPerSecond: 16 * 1024 };

interface Read {
  readonly startedAt: number;
  readonly announced: number;
  lastAt: number;
  bytes: number;
  giveUp(): void;
}

export interface PieceReader {
  /** The announced length; 0 if the client does not announce it. */
  announced: number;
  /** If it throws, the body is aborted. */
  take(piece: Uint8Array): void;
  /** Receives a function that aborts the body. */
  onBegin(stop: (error: Error) => void): void;
}

/** Reads request bodies and aborts those that arrive too slowly, so that a client cannot occupy memory for ever. */
export class PacedReads implements Disposable {
  readonly pace: BodyPace;
  readonly #reads = new Set<Read>();
  /** One timer for all, which runs while there are reads: most bodies have arrived before they are read. */
  #looking: Disposable | null = null;

  constructor(pace: Partial<BodyPace> = {}) {
    this.pace = { ...PACE, ...pace };
  }

  /** A small body, in one piece: it must arrive within the grace period. */
  whole(reading: Promise<Uint8Array>): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const read = this.#begin(() => reject(tooSlow()));
      reading.then((bytes) => {
        this.#reads.delete(read);
        resolve(bytes);
      }, (cause) => {
        this.#reads.delete(read);
        reject(new CutBody(cause));
      });
    });
  }

  /** A body piece by piece; it is in memory meanwhile, so a larger one must arrive faster. */
  async pieces(
    body: ReadableStream<Uint8Array>,
    { announced, take, onBegin }: PieceReader,
  ): Promise<void> {
    const reader = body.getReader();
    const counter = new PieceCounter();
    let failure: Error | null = null;
    const stop = (error: Error) => {
      failure ??= error;
      cancelBody(reader);
    };
    const read = this.#begin(() => stop(tooSlow()), announced);
    onBegin(stop);
    try {
      while (true) {
        const { done, value } = await reader.read().catch((cause) => {
          throw new CutBody(cause);
        });
        if (failure !== null) throw failure;
        if (done) return;
        read.lastAt = performance.now();
        read.bytes += value.length;
        counter.add(value.length);
        take(value);
        const pause = pauseBetweenPieces();
        if (pause !== null) await pause;
      }
    } catch (error) {
      cancelBody(reader);
      throw failure ?? error;
    } finally {
      this.#reads.delete(read);
    }
  }

  #begin(giveUp: () => void, announced = 0): Read {
    const now = performance.now();
    const read = { announced, startedAt: now, lastAt: now, bytes: 0, giveUp };
    this.#reads.add(read);
    this.#looking ??= periodic(() => this.#look(), {
      intervalMs: Math.min(1_000, this.pace.graceMs / 4),
      onError: rethrow,
      keepsProcessAlive: true,
    });
    return read;
  }

  #look(): void {
    const now = performance.now();
    for (const read of this.#reads) {
      const pace = paceOf(this.pace, Math.max(read.announced, read.bytes));
      if (!isTooSlow(pace, now - read.startedAt, now - read.lastAt, read.bytes)) continue;
      this.#reads.delete(read);
      read.giveUp();
    }
    if (this.#reads.size > 0) return;
    this.#stopLooking();
  }

  #stopLooking(): void {
    this.#looking?.[Symbol.dispose]();
    this.#looking = null;
  }

  [Symbol.dispose](): void {
    this.#stopLooking();
  }
}

/** The pace for a body of this size: bodies up to 16 MiB have the time that 1 MiB has. */
function paceOf({ graceMs, bytesPerSecond }: BodyPace, bytes: number): BodyPace {
  const faster = Math.min(Math.max(bytes / USUAL_BYTES, 1), FASTER_MAX);
  return { graceMs, bytesPerSecond: bytesPerSecond * faster };
}

/** Stops reading. Cancelling fails if the client has disconnected already, which needs no handling. */
function cancelBody(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  reader.cancel().catch(() => {});
}

/** Whether a body arrives too slowly. In the grace period it is neither silent for too long nor behind. */
export function isTooSlow(
  { graceMs, bytesPerSecond }: BodyPace,
  elapsedMs: number,
  silentMs: number,
  bytes: number,
): boolean {
  return silentMs > graceMs || bytes < (elapsedMs - graceMs) / 1000 * bytesPerSecond;
}

export function tooSlow(): ApiError {
  return new ApiError(
    "request_timeout",
    "The body came too slowly and was given up: send it again over a faster connection.",
  );
}
