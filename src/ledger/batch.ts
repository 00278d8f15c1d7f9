import type { Queries } from "../store/database.ts";
import { isStorageDown } from "../store/storage_error.ts";
import { type Item, type Outcome, runItem, runItems } from "./item.ts";

/** More do not make a statement cheaper per item, only longer for whoever waits behind it. */
const BATCH_MAX = 256;
/** While one statement waits for the disk, another may compute. */
const LANES = 1;

interface Waiting {
  item: Item;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/**
 * Group commit: what is asked for while a statement is under way goes into the next one together.
 * Every caller waits for its own answer, which is durable when it comes.
 */
export class Batch {
  readonly #lanes = Array.from({ length: LANES }, (): Lane => ({ waiting: [], isBusy: false }));

  constructor(private readonly sql: Queries) {}

  run(item: Item): Promise<Outcome> {
    // An account keeps to its lane: two statements about it would only wait for each other.
    const lane = this.#lanes[laneOf(item.account_id ?? item.id)]!;
    return new Promise((resolve, reject) => {
      lane.waiting.push({ item, resolve, reject });
      if (lane.isBusy) return;
      lane.isBusy = true;
      // Callers of the same turn come along.
      queueMicrotask(() => void this.#drain(lane));
    });
  }

  async #drain(lane: Lane): Promise<void> {
    while (lane.waiting.length > 0) await this.#flush(takeBatch(lane));
    lane.isBusy = false;
  }

  async #flush(batch: Waiting[]): Promise<void> {
    try {
      const outcomes = await runItems(this.sql, batch.map(({ item }) => item));
      for (const outcome of outcomes) batch[outcome.n]!.resolve(outcome);
    } catch (error) {
      if (batch.length === 1 || isStorageDown(error)) {
        for (const { reject } of batch) reject(error);
      } else {
        await this.#flushOneByOne(batch);
      }
    }
  }

  /** One of them made the statement fail: find out which, and serve the others. */
  async #flushOneByOne(batch: Waiting[]): Promise<void> {
    for (const { item, resolve, reject } of batch) {
      await runItem(this.sql, item).then(resolve, reject);
    }
  }
}

interface Lane {
  waiting: Waiting[];
  isBusy: boolean;
}

/** What waits, in order; a second item of one hold waits for the next batch. */
function takeBatch(lane: Lane): Waiting[] {
  const batch: Waiting[] = [];
  const later: Waiting[] = [];
  const ids = new Set<string>();
  for (const [at, waiting] of lane.waiting.entries()) {
    if (batch.length === BATCH_MAX) {
      later.push(...lane.waiting.slice(at));
      break;
    }
    const { id } = waiting.item;
    if (ids.has(id)) later.push(waiting);
    else {
      ids.add(id);
      batch.push(waiting);
    }
  }
  lane.waiting = later;
  return batch;
}

function laneOf(key: string): number {
  let sum = 0;
  for (let i = 0; i < key.length; i++) sum = (sum * 31 + key.charCodeAt(i)) | 0;
  return Math.abs(sum) % LANES;
}
