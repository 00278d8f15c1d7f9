import { Refusal } from "../base/refusal.ts";

/** How slowly a body may come. */
export interface BodyPace {
  /** How long nothing may come, and how long a body may take before its rate counts. */
  graceMs: number;
  /** What must have come on average after that. */
  bytesPerSecond: number;
}

export const PACE: BodyPace = { graceMs: 30_000, bytesPerSecond: 16 * 1024 };

interface Read {
  readonly startedAt: number;
  lastAt: number;
  bytes: number;
  giveUp(): void;
}

/** Reads bodies of requests and gives up those that come too slowly: a client may not hold a place for ever. */
export class PacedReads implements Disposable {
  readonly pace: BodyPace;
  readonly #reads = new Set<Read>();
  /** One timer for all: most bodies have arrived before they are asked for. */
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(pace: Partial<BodyPace> = {}) {
    this.pace = { ...PACE, ...pace };
  }

  /** A small body, in one piece: it must be there within the grace. */
  whole(reading: Promise<Uint8Array>): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const read = this.#begin(() => reject(tooSlow()));
      reading.then((bytes) => {
        this.#reads.delete(read);
        resolve(bytes);
      }, (cause) => {
        this.#reads.delete(read);
        reject(cutShort(cause));
      });
    });
  }

  /** A body piece by piece. What `take` throws ends it. */
  async pieces(
    body: ReadableStream<Uint8Array>,
    take: (piece: Uint8Array) => void,
  ): Promise<void> {
    const reader = body.getReader();
    let isSlow = false;
    const read = this.#begin(() => {
      isSlow = true;
      reader.cancel().catch(() => {});
    });
    try {
      while (true) {
        const { done, value } = await reader.read().catch((cause) => {
          throw cutShort(cause);
        });
        if (isSlow) throw tooSlow();
        if (done) return;
        read.lastAt = performance.now();
        read.bytes += value.length;
        take(value);
      }
    } catch (error) {
      reader.cancel().catch(() => {});
      throw isSlow ? tooSlow() : error;
    } finally {
      this.#reads.delete(read);
    }
  }

  #begin(giveUp: () => void): Read {
    const now = performance.now();
    const read = { startedAt: now, lastAt: now, bytes: 0, giveUp };
    this.#reads.add(read);
    this.#timer ??= setInterval(() => this.#look(), Math.min(1_000, this.pace.graceMs / 4));
    return read;
  }

  #look(): void {
    const now = performance.now();
    for (const read of this.#reads) {
      if (!isTooSlow(this.pace, now - read.startedAt, now - read.lastAt, read.bytes)) continue;
      this.#reads.delete(read);
      read.giveUp();
    }
    if (this.#reads.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#reads.clear();
  }
}

/** Whether a body comes so slowly that it is given up. */
export function isTooSlow(
  { graceMs, bytesPerSecond }: BodyPace,
  elapsedMs: number,
  silentMs: number,
  bytes: number,
): boolean {
  if (elapsedMs <= graceMs) return false;
  return silentMs > graceMs || bytes < (elapsedMs - graceMs) / 1000 * bytesPerSecond;
}

export function tooSlow(): Refusal {
  return new Refusal(
    "request_timeout",
    "The body came too slowly and was given up: send it again over a faster connection.",
  );
}

/** Whoever sends it has hung up: no fault of ours, and hardly anybody hears of it. */
function cutShort(cause: unknown): Refusal {
  return new Refusal("invalid_json", "The body ended before it was whole.", { cause });
}
