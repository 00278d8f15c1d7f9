/** A seeded generator of random numbers: the same seed gives the same inputs. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 to below `limit` (mulberry32). */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 * limit);
  }

  /** True once in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  /** Mostly small, sometimes as large as `limit` allows: bugs live at both ends. */
  size(limit: number): number {
    return this.below(Math.min(limit, 2 ** this.below(Math.ceil(Math.log2(limit + 1)) + 1)) + 1);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }

  /** Places where `length` bytes are cut into pieces, in order; often every byte, often none. */
  cuts(length: number): number[] {
    if (this.oneIn(4)) return [];
    if (this.oneIn(4) && length <= 4096) return Array.from({ length }, (_, at) => at);
    const cuts = Array.from({ length: 1 + this.below(8) }, () => this.below(length + 1));
    return cuts.sort((a, b) => a - b);
  }
}
