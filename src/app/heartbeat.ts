/**
 * Shared memory in which a thread counts its heartbeats and keeps the requests it began last: another thread can
 * still read both when this one is blocked.
 */
import { periodic, rethrow } from "../lib/timers.ts";

const SLOTS = 8;
const SLOT_BYTES = 128;
/** Indexes of the two counters at the head. */
const BEATS = 0;
const BEGUN = 1;
const HEAD_BYTES = 8;

export function newHeartbeatMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEAD_BYTES + SLOTS * SLOT_BYTES);
}

/** The side of the watched thread. */
export class Heartbeat implements Disposable {
  readonly #counts: Int32Array;
  readonly #slots: Uint8Array;
  readonly #beating: Disposable;
  #next = 0;

  constructor(memory: SharedArrayBuffer, intervalMs = 250) {
    this.#counts = new Int32Array(memory, 0, 2);
    this.#slots = new Uint8Array(memory, HEAD_BYTES);
    const beat = () => Atomics.add(this.#counts, BEATS, 1);
    this.#beating = periodic(beat, { intervalMs, onError: rethrow });
    beat();
  }

  /** Records that a request began. Called for every one: a few dozen bytes, and nothing is allocated. */
  begin = (requestId: string, method: string, path: string): void => {
    let at = (this.#next++ % SLOTS) * SLOT_BYTES;
    const end = at + SLOT_BYTES;
    for (const text of [requestId, method, path]) {
      for (let from = 0; from < text.length && at < end - 1; from++) {
        this.#slots[at++] = text.charCodeAt(from);
      }
      if (at < end) this.#slots[at++] = 0x20;
    }
    if (at < end) this.#slots[at] = 0;
    Atomics.store(this.#counts, BEGUN, this.#next);
  };

  [Symbol.dispose](): void {
    this.#beating[Symbol.dispose]();
  }
}

/** The side of the watching thread. */
export class HeartbeatReader {
  readonly #counts: Int32Array;
  readonly #slots: Uint8Array;
  #seen = 0;
  #missed = 0;

  constructor(memory: SharedArrayBuffer) {
    this.#counts = new Int32Array(memory, 0, 2);
    this.#slots = new Uint8Array(memory, HEAD_BYTES);
  }

  /**
   * How many checks in a row have found no new heartbeat. Checks are counted, not seconds: while the whole
   * process is stopped, or the machine sleeps, there are no checks either.
   */
  missedChecks(): number {
    const beats = Atomics.load(this.#counts, BEATS);
    // Before the first heartbeat the thread is starting, which may take any time.
    this.#missed = beats === this.#seen && beats > 0 ? this.#missed + 1 : 0;
    this.#seen = beats;
    return this.#missed;
  }

  /** The requests that began last, the latest first. */
  lastRequests(): string[] {
    const begun = Atomics.load(this.#counts, BEGUN);
    const texts: string[] = [];
    for (let number = begun - 1; number >= Math.max(0, begun - SLOTS); number--) {
      const start = (number % SLOTS) * SLOT_BYTES;
      const bytes = this.#slots.slice(start, start + SLOT_BYTES);
      const end = bytes.indexOf(0);
      texts.push(
        String.fromCharCode(...bytes.subarray(0, end === -1 ? SLOT_BYTES : end)).trim(),
      );
    }
    return texts;
  }
}
