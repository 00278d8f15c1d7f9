/**
 * Does pieces of work that block the thread one after another, with a pause for everything else between two
 * of them.
 */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  async run<T>(work: () => T): Promise<T> {
    const before = this.#last;
    const own = Promise.withResolvers<void>();
    this.#last = own.promise;
    await before;
    try {
      return work();
    } finally {
      setTimeout(own.resolve);
    }
  }
}
