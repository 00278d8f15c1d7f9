import { GroupCommit, splitSingles } from "../../lib/group_commit.ts";
import type { Queries } from "../../platform/database/database.ts";
import { isLockTimeout, isStorageDown } from "../../platform/database/storage_error.ts";
import { type Item, type Outcome, runItems } from "./item.ts";

const ITEMS_MAX = 256;
/** Rows of the request log that any statement takes along; one with more items takes as many as it has items. */
const LOG_ROWS_MIN = 16;

/** Rows of the request log that wait to be written. A statement of the ledger saves them one of their own. */
export interface LogRows {
  /** At most so many rows, for the SQL function `request_write_along`; null if none wait. */
  takeAlong(rowsMax: number): TakenRows | null;
}

export interface TakenRows {
  readonly rows: string;
  /** Call once, when the statement has ended. Rows that are not written wait again. */
  end(isWritten: boolean): void;
}

/** Holds and resolutions that arrive together share a statement; each result is durable when it is returned. */
export function openBatch(sql: Queries, logRows?: LogRows): GroupCommit<Item, Outcome> {
  return new GroupCommit({
    async run(items) {
      // Money does not wait for a flood of requests without a charge.
      const taken = logRows?.takeAlong(Math.max(items.length, LOG_ROWS_MIN)) ?? null;
      const outcomes = taken === null
        ? await runItems(sql, items)
        : await runWithRows(sql, items, taken);
      return outcomes.toSorted((a, b) => a.n - b.n);
    },
    // A second item of one hold waits for the next batch.
    nameOf: ({ id }) => id,
    split,
    itemsMax: ITEMS_MAX,
  });
}

async function runWithRows(
  sql: Queries,
  items: readonly Item[],
  taken: TakenRows,
): Promise<Outcome[]> {
  try {
    const outcomes = await runItems(sql, items, taken.rows);
    taken.end(outcomes[0]?.is_logged === true);
    return outcomes;
  } catch (error) {
    taken.end(false);
    throw error;
  }
}

/** How to split a failed statement for a retry, so that the failing item fails alone: by account, then by item. */
function split(items: readonly Item[], error: unknown): readonly (readonly Item[])[] {
  if (isStorageDown(error)) return [];
  const accounts = Map.groupBy(items, ({ account_id, id }) => account_id ?? id);
  if (accounts.size > 1) return [...accounts.values()];
  // If an account's lock timed out, it would time out for each of its items.
  return isLockTimeout(error) ? [] : splitSingles(items);
}
