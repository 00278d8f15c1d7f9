interface Waiting<Item, Outcome> {
  item: Item;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/**
 * What is asked for while a statement is under way goes into the next one together. Every caller waits
 * for its own answer, which is durable when it comes.
 */
export class Together<Item, Outcome> {
  #waiting: Waiting<Item, Outcome>[] = [];
  #isBusy = false;

  /** `run` answers one outcome per item, in their order. */
  constructor(
    private readonly run: (items: readonly Item[]) => Promise<readonly Outcome[]>,
    private readonly most: number,
  ) {}

  ask(item: Item): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isBusy) return;
      this.#isBusy = true;
      // Callers of the same turn come along.
      queueMicrotask(() => void this.#drain());
    });
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.most);
      try {
        const outcomes = await this.run(batch.map(({ item }) => item));
        for (const [at, { resolve }] of batch.entries()) resolve(outcomes[at]!);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isBusy = false;
  }
}
