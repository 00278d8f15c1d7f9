/** Limits how much runs at once, by name. A caller without a slot is told at once: nothing queues here. */
export class Slots {
  readonly #taken = new Map<string, number>();

  /** Takes a slot; call the result to release it. Null when none is free. */
  take(name: string, max: number | null): (() => void) | null {
    const taken = this.#taken.get(name) ?? 0;
    if (max !== null && taken >= max) return null;
    this.#taken.set(name, taken + 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const left = (this.#taken.get(name) ?? 1) - 1;
      if (left === 0) this.#taken.delete(name);
      else this.#taken.set(name, left);
    };
  }

  count(name: string): number {
    return this.#taken.get(name) ?? 0;
  }
}
