/** Longer than nearly all requests take from the look at their key to their draw. */
const REMEMBERED_MS = 60_000;

/** Keys that were changed lately. A request that came just before does not know of a new budget, and may draw later. */
export class ChangedKeys {
  /** In the order of their changes. */
  readonly #changedAt = new Map<string, number>();

  constructor(private readonly now = () => performance.now()) {}

  add(key: string): void {
    const now = this.now();
    for (const [known, at] of this.#changedAt) {
      if (known === key || now - at >= REMEMBERED_MS) this.#changedAt.delete(known);
    }
    this.#changedAt.set(key, now);
  }

  has(key: string): boolean {
    const at = this.#changedAt.get(key);
    return at !== undefined && this.now() - at < REMEMBERED_MS;
  }
}
