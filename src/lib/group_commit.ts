interface Waiting<Item, Answer> {
  readonly item: Item;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

export interface GroupCommitOptions<Item, Answer> {
  /** Results in the order of the items. */
  run(items: readonly Item[]): Promise<readonly Answer[]>;
  /** Two items of one name do not share a call; the later one waits. Null: no such limit. */
  nameOf?(item: Item): string | null;
  /** Splits a failed call into smaller ones, which are tried again. None: all its items are rejected. */
  split?(items: readonly Item[], error: unknown): readonly (readonly Item[])[];
  /** More items do not make a statement cheaper per item, only longer for those that wait behind it. */
  itemsMax: number;
}

/**
 * Items that come while a call is under way share the next call, its round trip and its wait for the disk. Every
 * caller still waits for its own result.
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
      // Items added in the same turn of the event loop share the call.
      queueMicrotask(() => void this.#drain());
    });
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) await this.#flush(this.#take());
    this.#isBusy = false;
  }

  /** The next items, in order. */
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
      // The item that made the call fail fails alone; later items do not wait for this.
      for (const part of parts) void this.#flush(part.map((item) => waitingOf.get(item)!));
    }
  }
}

/** Splits a failed call into one for each item. */
export function splitSingles<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return items.length === 1 ? [] : items.map((item) => [item]);
}
