import { UpstreamFailure } from "./failure.ts";

/** Ends an exchange whose other side is silent for too long. Only waiting counts, however long the whole takes. */
export class SilenceLimit {
  readonly #silent = new AbortController();
  readonly signal: AbortSignal;

  constructor(readonly ms: number, outer: AbortSignal) {
    this.signal = AbortSignal.any([this.#silent.signal, outer]);
  }

  /** Waits for what comes next from the other side, and no longer than the limit. */
  async wait<T>(next: Promise<T>): Promise<T> {
    const { promise: ended, reject } = Promise.withResolvers<never>();
    const end = () => reject(this.signal.reason);
    const timer = setTimeout(() => {
      this.#silent.abort(
        new UpstreamFailure("timeout", `no byte within ${this.ms} ms`, { received: "unknown" }),
      );
    }, this.ms);
    this.signal.addEventListener("abort", end);
    if (this.signal.aborted) end();
    try {
      return await Promise.race([next, ended]);
    } finally {
      clearTimeout(timer);
      this.signal.removeEventListener("abort", end);
      // Where it lost, its own failure comes later and says nothing new.
      next.catch(() => undefined);
    }
  }
}
