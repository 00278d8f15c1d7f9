/**
 * Tells who waits for a task that it changed, when the change was made in this process. Changes made by
 * other nodes are found by looking now and then.
 */
export class TaskWatch {
  readonly #waiting = new Map<string, Set<() => void>>();

  changed(id: string): void {
    for (const wake of this.#waiting.get(id) ?? []) wake();
  }

  /** Resolves when the task changed, after `ms`, or when `signal` aborts, whichever is first. */
  next(id: string, ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wakers = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, wakers);
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", wake);
        wakers.delete(wake);
        if (wakers.size === 0) this.#waiting.delete(id);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      wakers.add(wake);
      signal.addEventListener("abort", wake);
    });
  }
}
