import { sharedInterval } from "../lib/shared_interval.ts";
import { NotSent } from "./adapter.ts";
import { UpstreamFailure } from "./failure.ts";

export interface DeadlineOptions {
  /** Longest wait for the first byte, and between two reads. */
  readonly silenceMs?: number;
  /** Longest time up to the last byte. */
  readonly totalMs?: number;
  /** Ends it from outside: the client disconnected, or the result is no longer needed. */
  readonly signal: AbortSignal;
}

/**
 * Ends an exchange that is silent for too long, takes too long or is no longer needed; dispose of it at the end.
 * Silence is checked on a shared interval: cheaper than a timer for each read.
 */
export class Deadline implements Disposable {
  readonly #controller = new AbortController();
  readonly #stop = () => this.#controller.abort(this.options.signal.reason);
  readonly #unsubscribe: (() => void) | undefined;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  #lastSeen = performance.now();
  /** What was exceeded. */
  #late: string | null = null;

  constructor(private readonly options: DeadlineOptions) {
    const { silenceMs, totalMs, signal } = options;
    signal.addEventListener("abort", this.#stop);
    if (signal.aborted) this.#stop();
    if (silenceMs !== undefined) {
      this.#unsubscribe = sharedInterval(Math.max(10, silenceMs / 8), () => {
        if (performance.now() - this.#lastSeen >= silenceMs) {
          this.#expire(`no byte within ${silenceMs} ms`);
        }
      });
    }
    if (totalMs !== undefined) {
      this.#timer = setTimeout(() => this.#expire(`no whole answer within ${totalMs} ms`), totalMs);
    }
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

  /** Stops the time of silence until `resetTimer`: the reader is slow, not the upstream. */
  pauseTimer(): void {
    this.#lastSeen = Infinity;
  }

  /** Lets the outer signal abort without effect from here on. */
  ignoreOuter(): void {
    this.options.signal.removeEventListener("abort", this.#stop);
  }

  /** The failure that an error of this exchange stands for. */
  toFailure(cause: unknown): UpstreamFailure {
    const received = cause instanceof NotSent ? "no" : "unknown";
    if (this.#late !== null) return new UpstreamFailure("timeout", this.#late, { cause, received });
    if (cause instanceof UpstreamFailure) return cause;
    return received === "no"
      ? new UpstreamFailure("unreachable", "the upstream cannot be reached", { cause, received })
      : new UpstreamFailure("cut", "the connection broke", { cause, received });
  }

  #expire(reason: string): void {
    this.#late = reason;
    this.#controller.abort();
  }

  [Symbol.dispose](): void {
    this.#unsubscribe?.();
    clearTimeout(this.#timer);
    this.ignoreOuter();
  }
}
