/** Aborts after a time, or with the outer signal. Dispose of it at the end. */
export class Deadline implements Disposable {
  readonly #controller = new AbortController();
  readonly #stop: () => void;
  readonly #timer: ReturnType<typeof setTimeout>;
  #isLate = false;

  constructor(readonly ms: number, private readonly outer: AbortSignal) {
    this.#stop = () => this.#controller.abort(outer.reason);
    outer.addEventListener("abort", this.#stop);
    if (outer.aborted) this.#stop();
    this.#timer = setTimeout(() => {
      this.#isLate = true;
      this.#controller.abort();
    }, ms);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isLate(): boolean {
    return this.#isLate;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.outer.removeEventListener("abort", this.#stop);
  }
}
