import { sharedInterval } from "../lib/shared_interval.ts";
import { UpstreamFailure } from "./failure.ts";

interface Watched {
  /** Longest wait for the first byte, and between two. */
  readonly timeoutMs: number;
  /** Ends it from outside. */
  readonly signal: AbortSignal;
}

/** Ends an attempt that takes too long, or that nobody wants any more: looks now and then whether anything came. */
export class AbortWatch implements Disposable {
  readonly #controller = new AbortController();
  readonly #stop = () => this.#controller.abort();
  readonly #leave: () => void;
  #lastSeen = performance.now();
  #isLate = false;

  constructor(private readonly attempt: Watched) {
    attempt.signal.addEventListener("abort", this.#stop);
    if (attempt.signal.aborted) this.#stop();
    this.#leave = sharedInterval(Math.max(10, attempt.timeoutMs / 8), () => {
      if (performance.now() - this.#lastSeen < attempt.timeoutMs) return;
      this.#isLate = true;
      this.#controller.abort();
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(): void {
    this.#controller.abort();
  }

  /** Something came. */
  seen(): void {
    this.#lastSeen = performance.now();
  }

  /** Until `seen` is called nothing is expected: it is the client who takes its time. */
  pause(): void {
    this.#lastSeen = Infinity;
  }

  /** What a step that failed means. */
  explain(cause: unknown): UpstreamFailure {
    if (this.#isLate) {
      return new UpstreamFailure("timeout", `nothing came for ${this.attempt.timeoutMs} ms`, {
        cause,
      });
    }
    return cause instanceof UpstreamFailure
      ? cause
      : new UpstreamFailure("cut", "the connection broke", { cause });
  }

  [Symbol.dispose](): void {
    this.#leave();
    this.attempt.signal.removeEventListener("abort", this.#stop);
  }
}
