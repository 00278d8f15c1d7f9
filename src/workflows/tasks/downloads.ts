/** How results are downloaded. Tests run with shorter times than the usual ones. */
export interface DownloadLimits {
  /** Tasks whose results this process downloads at once. */
  readonly slots: number;
  /** After so long without a byte a download has failed. */
  readonly silenceMs: number;
  /** Failed tries after which the results that are missing are given up. */
  readonly tries: number;
  /** Before the second try; four times as long before each further one. */
  readonly retryMs: number;
}

export const DOWNLOAD_LIMITS: DownloadLimits = {
  slots: 64,
  silenceMs: 30_000,
  tries: 4,
  retryMs: 500,
};

/**
 * The slots of downloads, apart from those of the other steps of tasks. An account or a provider may take
 * one more only while it has fewer than are free, an account at one provider fewer than half of those:
 * alone they get a good part of the slots, and downloads that hang leave room for the others.
 */
export class DownloadSlots {
  readonly #taken = new Map<string, number>();
  #free: number;

  constructor(slots: number) {
    this.#free = slots;
  }

  /** Null: not now. Dispose of it when the download is over. */
  acquire(account: string, provider: string): Disposable | null {
    const names = [`account ${account}`, `provider ${provider}`, `${account} at ${provider}`];
    const has = names.map((name) => this.#taken.get(name) ?? 0);
    const [ofAccount, ofProvider, ofBoth] = has as [number, number, number];
    // Of very few slots, half of the free ones may be less than one.
    const mostOfBoth = Math.max(1, this.#free / 2);
    if (ofAccount >= this.#free || ofProvider >= this.#free || ofBoth >= mostOfBoth) return null;
    this.#free--;
    for (const [at, name] of names.entries()) this.#taken.set(name, has[at]! + 1);
    return { [Symbol.dispose]: () => this.#leave(names) };
  }

  #leave(names: readonly string[]): void {
    this.#free++;
    for (const name of names) {
      const left = this.#taken.get(name)! - 1;
      if (left > 0) this.#taken.set(name, left);
      else this.#taken.delete(name);
    }
  }
}
