import { periodic, rethrow } from "../lib/timers.ts";

/**
 * Shared memory in which a thread shows that it is alive, and which requests it began last: what another
 * thread can still read when this one is stuck.
 */
const SLOTS = 8;
const SLOT_BYTES = 128;
const BEAT = 0;
const BEGUN = 1;
const HEAD_BYTES = 8;

export function newPulseMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEAD_BYTES + SLOTS * SLOT_BYTES);
}

/** The side of the thread that is watched. */
export class Pulse implements Disposable {
  readonly #counts: Int32Array;
  readonly #slots: Uint8Array;
  readonly #heartbeat: Disposable;
  #next = 0;

  constructor(memory: SharedArrayBuffer, beatMs = 250) {
    this.#counts = new Int32Array(memory, 0, 2);
    this.#slots = new Uint8Array(memory, HEAD_BYTES);
    const beat = () => Atomics.add(this.#counts, BEAT, 1);
    this.#heartbeat = periodic(beat, { intervalMs: beatMs, onError: rethrow });
    beat();
  }

  /** Notes that a request began. Called for every one: a few dozen bytes, and nothing is allocated. */
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
    this.#heartbeat[Symbol.dispose]();
  }
}

/** The side of the thread that watches. */
export class PulseReader {
  readonly #counts: Int32Array;
  readonly #slots: Uint8Array;
  #seen = 0;
  #missed = 0;

  constructor(memory: SharedArrayBuffer) {
    this.#counts = new Int32Array(memory, 0, 2);
    this.#slots = new Uint8Array(memory, HEAD_BYTES);
  }

  /**
   * How many looks in a row have found no beat since the one before. Looks are counted, not seconds: while
   * the whole process is stopped, or the machine sleeps, nobody looks.
   */
  look(): number {
    const beat = Atomics.load(this.#counts, BEAT);
    // Before the first beat the thread is starting, which may take any time.
    this.#missed = beat === this.#seen && beat > 0 ? this.#missed + 1 : 0;
    this.#seen = beat;
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
