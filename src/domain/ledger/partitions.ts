import type { Queries } from "../../platform/database/database.ts";

/** Enough for a gateway that is not started for weeks: rows of a month without a partition must be moved later. */
const MONTHS_AHEAD = 2;

/**
 * Makes the partitions of the coming months, unless they exist. Any number of nodes may call it; one does the work.
 * Rows that had to be written without one move only at a start: requests under way could miss them.
 */
export async function createPartitions(
  sql: Queries,
  { isStart = false }: { isStart?: boolean } = {},
): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select ledger_create_partitions(${MONTHS_AHEAD}, ${isStart}) as count`;
  return row.count;
}
