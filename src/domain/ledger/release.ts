import type { Item } from "./item.ts";

/** Returns everything to the buckets it came from. */
export function releaseItem(id: string, account?: string): Item {
  return { op: "release", id, account_id: account };
}
