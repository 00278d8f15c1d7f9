/**
 * The clock of the embedded database: it begins at the system's time and runs with the monotonic clock, so
 * that leases and deadlines do not end when the system clock is set. The main thread moves it, through
 * shared memory, so every read after a move sees the new time.
 */
export class EngineClock {
  readonly #moved: BigInt64Array;

  constructor(readonly memory: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.#moved = new BigInt64Array(memory);
  }

  move(ms: number): void {
    Atomics.add(this.#moved, 0, BigInt(Math.round(ms)));
  }

  /** In the thread of the database: the engine reads the time from `Date.now`. */
  install(): void {
    const begin = Date.now() - performance.now();
    Date.now = () => Math.round(begin + performance.now()) + Number(Atomics.load(this.#moved, 0));
  }
}
