import type { Queries } from "../../platform/database/database.ts";

/** Enough for a gateway that is not started for weeks: rows of a month without a partition must be moved later. */
const MONTHS_AHEAD = 2;

/** Makes the partitions of the coming months, unless they exist. Any number of nodes may call it; one does the work. */
export async function createPartitions(sql: Queries): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select ledger_create_partitions(${MONTHS_AHEAD}) as count`;
  return row.count;
}
