/** A step that waits for a slot. */
interface Waiter {
  readonly names: SlotNames;
  give(slot: Disposable): void;
}

/** What a slot counts for: the account, the provider, and both together. */
type SlotNames = readonly [account: string, provider: string, both: string];

/** Steps that wait at most: each keeps a task in memory. */
const WAITING_MAX = 256;

/**
 * The slots of work that takes long, apart from those of the other steps of tasks. An account or a provider may take
 * one more only while it has fewer than are free, an account at one provider fewer than half of those:
 * alone they get a good part of the slots, and work that hangs leaves room for the others. Steps that
 * find no slot wait in the order they came.
 */
export class LongStepSlots {
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Set<Waiter>();
  #free: number;

  constructor(slots: number) {
    this.#free = slots;
  }

  /** Null: none within the time, or `signal` aborts. Dispose of it when the work is over. */
  acquire(
    account: string,
    provider: string,
    { waitMs, signal }: { waitMs: number; signal: AbortSignal },
  ): Promise<Disposable | null> {
    const names = [
      `account ${account}`,
      `provider ${provider}`,
      `${account} at ${provider}`,
    ] as const;
    const slot = this.#take(names);
    if (slot !== null || signal.aborted || this.#waiting.size >= WAITING_MAX) {
      return Promise.resolve(slot);
    }
    return new Promise((resolve) => {
      const end = (slot: Disposable | null) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
        this.#waiting.delete(waiter);
        resolve(slot);
      };
      const waiter: Waiter = { names, give: end };
      const giveUp = () => end(null);
      const timer = setTimeout(giveUp, waitMs);
      signal.addEventListener("abort", giveUp);
      this.#waiting.add(waiter);
    });
  }

  #take(names: SlotNames): Disposable | null {
    const [ofAccount, ofProvider, ofBoth] = names.map((name) => this.#taken.get(name) ?? 0) as [
      number,
      number,
      number,
    ];
    // Of very few slots, half of the free ones may be less than one.
    const mostOfBoth = Math.max(1, this.#free / 2);
    if (ofAccount >= this.#free || ofProvider >= this.#free || ofBoth >= mostOfBoth) return null;
    this.#free--;
    for (const name of names) this.#taken.set(name, (this.#taken.get(name) ?? 0) + 1);
    return { [Symbol.dispose]: () => this.#leave(names) };
  }

  #leave(names: SlotNames): void {
    this.#free++;
    for (const name of names) {
      const left = this.#taken.get(name)! - 1;
      if (left > 0) this.#taken.set(name, left);
      else this.#taken.delete(name);
    }
    for (const waiter of this.#waiting) {
      const slot = this.#take(waiter.names);
      if (slot !== null) waiter.give(slot);
    }
  }
}
