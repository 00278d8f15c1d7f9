import type { Item } from "./item.ts";

/** Gives everything back to where it came from. */
export function releaseItem(id: string, account?: string): Item {
  return { op: "release", id, account_id: account };
}
