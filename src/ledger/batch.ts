import type { Queries } from "../store/database.ts";
import { isStorageDown } from "../store/storage_error.ts";
import { type Item, type Outcome, runItems } from "./item.ts";

/** More do not make a statement cheaper per item, only longer for whoever waits behind it. */
const BATCH_MAX = 256;

interface Waiting {
  item: Item;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/**
 * Group commit: what is asked for while a statement is under way goes into the next one together.
 * Every caller waits for its own answer, which is durable when it comes.
 *
 * One statement at a time: a second one beside it would halve what each shares, and measures slower.
 */
export class Batch {
  #waiting: Waiting[] = [];
  #isBusy = false;

  constructor(private readonly sql: Queries) {}

  run(item: Item): Promise<Outcome> {
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

  /** What waits, in order; a second item of one hold waits for the next batch. */
  #take(): Waiting[] {
    const ids = new Set<string>();
    const [batch, later]: [Waiting[], Waiting[]] = [[], []];
    for (const waiting of this.#waiting) {
      const isNext = batch.length < BATCH_MAX && !ids.has(waiting.item.id);
      ids.add(waiting.item.id);
      (isNext ? batch : later).push(waiting);
    }
    this.#waiting = later;
    return batch;
  }

  async #flush(batch: Waiting[]): Promise<void> {
    try {
      const outcomes = await runItems(this.sql, batch.map(({ item }) => item));
      for (const outcome of outcomes) batch[outcome.n]!.resolve(outcome);
    } catch (error) {
      const parts = isStorageDown(error) ? [] : split(batch, error);
      if (parts.length === 0) {
        for (const { reject } of batch) reject(error);
      } else {
        // Nobody who comes later waits for this.
        for (const part of parts) void this.#flush(part);
      }
    }
  }
}

const LOCK_TIMEOUT = "55P03";

/** Parts to try again, so that what made a statement fail fails alone: by account, then by item. */
function split(batch: Waiting[], error: unknown): Waiting[][] {
  const accounts = Map.groupBy(batch, ({ item }) => item.account_id ?? item.id);
  if (accounts.size > 1) return [...accounts.values()];
  // An account that somebody keeps locked is locked for each of its items.
  const isLocked = (error as { code?: unknown }).code === LOCK_TIMEOUT;
  return batch.length === 1 || isLocked ? [] : batch.map((waiting) => [waiting]);
}
