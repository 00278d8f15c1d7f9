/** Counts in shared memory the calls that the engine begins and ends. */
export class Activity {
  readonly #count: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#count = new Int32Array(memory);
  }

  /** Odd while it is working. */
  get count(): number {
    return Atomics.load(this.#count, 0);
  }

  /** Called at the beginning, and again at the end. */
  step(): void {
    Atomics.add(this.#count, 0, 1);
  }
}
