/** So many at once, and no more. Whoever finds no place is told at once; nobody queues here. */
export class Slots {
  readonly #taken = new Map<string, number>();

  /** Takes a place, to be given back by calling the result; null when there is none. */
  take(name: string, max: number | null): (() => void) | null {
    const taken = this.#taken.get(name) ?? 0;
    if (max !== null && taken >= max) return null;
    this.#taken.set(name, taken + 1);
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      const left = (this.#taken.get(name) ?? 1) - 1;
      if (left === 0) this.#taken.delete(name);
      else this.#taken.set(name, left);
    };
  }

  count(name: string): number {
    return this.#taken.get(name) ?? 0;
  }
}
