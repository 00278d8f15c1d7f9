import { sleep } from "./timers.ts";

/**
 * Runs work that blocks the thread one piece after another, with a turn of the event loop for everything else
 * between two of them.
 */
export class SerialExecutor {
  #last: Promise<void> = Promise.resolve();

  async run<T>(work: () => T): Promise<T> {
    const before = this.#last;
    const own = Promise.withResolvers<void>();
    this.#last = own.promise;
    await before;
    try {
      return work();
    } finally {
      void sleep(0).then(own.resolve);
    }
  }
}
