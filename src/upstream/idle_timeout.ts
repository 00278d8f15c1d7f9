import { UpstreamFailure } from "./failure.ts";

/** Ends an exchange whose other side sends nothing for too long. Only waiting counts, not the total time. */
export class IdleTimeout {
  readonly #silent = new AbortController();
  readonly signal: AbortSignal;

  constructor(readonly ms: number, outer: AbortSignal) {
    this.signal = AbortSignal.any([this.#silent.signal, outer]);
  }

  /** Waits for the next bytes from the other side, at most until the limit. */
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
      // After a time-out its own failure arrives later and says nothing new.
      next.catch(() => undefined);
    }
  }
}
