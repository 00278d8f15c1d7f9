interface Waiting<Item, Answer> {
  readonly item: Item;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

export interface GroupCommitOptions<Item, Answer> {
  /** Answers in the order of the items. */
  run(items: readonly Item[]): Promise<readonly Answer[]>;
  /** Two items of one name do not go together; the later one waits. Null never minds. */
  nameOf(item: Item): string | null;
  /** Whether the items should be tried one by one after this. */
  isWorthSplitting(error: unknown): boolean;
  itemsMax: number;
}

/**
 * What is asked for while one call is under way goes into the next one together, and shares its round
 * trip and its wait for the disk. Every caller still waits for its own answer.
 */
export class GroupCommit<Item, Answer> {
  #waiting: Waiting<Item, Answer>[] = [];
  #isBusy = false;

  constructor(private readonly options: GroupCommitOptions<Item, Answer>) {}

  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isBusy) return;
      this.#isBusy = true;
      // Callers of the same turn come along.
      queueMicrotask(() => void this.#drain());
    });
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) await this.#flush(this.#take());
    this.#isBusy = false;
  }

  #take(): Waiting<Item, Answer>[] {
    const names = new Set<string>();
    const [group, later]: [Waiting<Item, Answer>[], Waiting<Item, Answer>[]] = [[], []];
    for (const waiting of this.#waiting) {
      const name = this.options.nameOf(waiting.item);
      const isNext = group.length < this.options.itemsMax && (name === null || !names.has(name));
      if (name !== null) names.add(name);
      (isNext ? group : later).push(waiting);
    }
    this.#waiting = later;
    return group;
  }

  async #flush(group: Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.options.run(group.map(({ item }) => item));
      for (const [at, { resolve }] of group.entries()) resolve(answers[at]!);
    } catch (error) {
      if (group.length === 1 || !this.options.isWorthSplitting(error)) {
        for (const { reject } of group) reject(error);
      } else {
        // What made the call fail fails alone; nobody who comes later waits for this.
        for (const one of group) void this.#flush([one]);
      }
    }
  }
}
