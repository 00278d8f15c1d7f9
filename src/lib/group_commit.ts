interface Waiting<Item, Answer> {
  readonly item: Item;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

export interface GroupCommitOptions<Item, Answer> {
  /** Answers in the order of the items. */
  run(items: readonly Item[]): Promise<readonly Answer[]>;
  /** Two items of one name do not go together; the later one waits. Null never minds. */
  nameOf?(item: Item): string | null;
  /** How to try a failed call again, in smaller ones. None: everybody in it is told. */
  split?(items: readonly Item[], error: unknown): readonly (readonly Item[])[];
  /** More do not make a statement cheaper per item, only longer for whoever waits behind it. */
  itemsMax: number;
}

/**
 * What is asked for while one call is under way goes into the next one together, and shares its round
 * trip and its wait for the disk. Every caller still waits for its own answer.
 *
 * One call at a time: a second one beside it would halve what each shares, and measures slower.
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

  /** What waits, in order. */
  #take(): Waiting<Item, Answer>[] {
    const { nameOf, itemsMax } = this.options;
    if (nameOf === undefined) return this.#waiting.splice(0, itemsMax);
    const names = new Set<string>();
    const [group, later]: [Waiting<Item, Answer>[], Waiting<Item, Answer>[]] = [[], []];
    for (const waiting of this.#waiting) {
      const name = nameOf(waiting.item);
      const isNext = group.length < itemsMax && (name === null || !names.has(name));
      if (name !== null) names.add(name);
      (isNext ? group : later).push(waiting);
    }
    this.#waiting = later;
    return group;
  }

  async #flush(group: readonly Waiting<Item, Answer>[]): Promise<void> {
    const items = group.map(({ item }) => item);
    try {
      const answers = await this.options.run(items);
      for (const [at, { resolve }] of group.entries()) resolve(answers[at]!);
    } catch (error) {
      const parts = this.options.split?.(items, error) ?? [];
      if (parts.length === 0) {
        for (const { reject } of group) reject(error);
        return;
      }
      const waitingOf = new Map(group.map((waiting) => [waiting.item, waiting]));
      // What made the call fail fails alone; nobody who comes later waits for this.
      for (const part of parts) void this.#flush(part.map((item) => waitingOf.get(item)!));
    }
  }
}

/** Splits a failed call into one for each item. */
export function splitSingles<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return items.length === 1 ? [] : items.map((item) => [item]);
}
