import { GroupCommit, splitSingles } from "../../lib/group_commit.ts";
import type { Queries } from "../../platform/database/database.ts";
import { isLockTimeout, isStorageDown } from "../../platform/database/storage_error.ts";
import { type Item, type Outcome, runItems } from "./item.ts";

const ITEMS_MAX = 256;

/** Holds and resolutions that arrive together share a statement; each result is durable when it is returned. */
export function openBatch(sql: Queries): GroupCommit<Item, Outcome> {
  return new GroupCommit({
    async run(items) {
      const outcomes = await runItems(sql, items);
      return outcomes.toSorted((a, b) => a.n - b.n);
    },
    // A second item of one hold waits for the next batch.
    nameOf: ({ id }) => id,
    split,
    itemsMax: ITEMS_MAX,
  });
}

/** How to split a failed statement for a retry, so that the failing item fails alone: by account, then by item. */
function split(items: readonly Item[], error: unknown): readonly (readonly Item[])[] {
  if (isStorageDown(error)) return [];
  const accounts = Map.groupBy(items, ({ account_id, id }) => account_id ?? id);
  if (accounts.size > 1) return [...accounts.values()];
  // If an account's lock timed out, it would time out for each of its items.
  return isLockTimeout(error) ? [] : splitSingles(items);
}
