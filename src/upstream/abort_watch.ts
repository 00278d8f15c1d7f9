import { sharedInterval } from "../lib/shared_interval.ts";
import { UpstreamFailure } from "./failure.ts";

interface WatchOptions {
  /** Longest wait for the first byte, and between two reads. */
  readonly timeoutMs: number;
  /** Ends it from outside. */
  readonly signal: AbortSignal;
}

/** Aborts an attempt that is silent for too long or no longer needed. Checks on a shared interval: cheaper than a timer per read. */
export class AbortWatch implements Disposable {
  readonly #controller = new AbortController();
  readonly #stop = () => this.#controller.abort();
  readonly #unsubscribe: () => void;
  #lastSeen = performance.now();
  #isLate = false;

  constructor(private readonly attempt: WatchOptions) {
    attempt.signal.addEventListener("abort", this.#stop);
    if (attempt.signal.aborted) this.#stop();
    this.#unsubscribe = sharedInterval(Math.max(10, attempt.timeoutMs / 8), () => {
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

  /** Bytes arrived. */
  resetTimer(): void {
    this.#lastSeen = performance.now();
  }

  /** Stops the time until `resetTimer`: the client is slow, not the upstream. */
  pauseTimer(): void {
    this.#lastSeen = Infinity;
  }

  /** The failure that an error of this attempt stands for. */
  toFailure(cause: unknown): UpstreamFailure {
    if (this.#isLate) {
      return new UpstreamFailure("timeout", `no byte within ${this.attempt.timeoutMs} ms`, {
        cause,
      });
    }
    return cause instanceof UpstreamFailure
      ? cause
      : new UpstreamFailure("cut", "the connection broke", { cause });
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
    this.attempt.signal.removeEventListener("abort", this.#stop);
  }
}
