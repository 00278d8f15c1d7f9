import type { Queries } from "../../platform/database/database.ts";
import type { Outcome } from "./item.ts";
import { readResolution, type Resolution } from "./settle.ts";

export interface Swept {
  /** Expired holds that were resolved. */
  holds: number;
  /** Credits and quotas that expired. */
  buckets: number;
  /** Accounts whose plan ended or whose quotas were renewed. */
  plans: number;
}

/** Per transaction: few enough that other transactions do not wait long for a lock. */
const BATCH_SIZE = 500;

/**
 * Does the work that is due by the database's clock: resolves expired holds,
 * ends credits and plans, renews quotas. Any number of nodes may call it at once.
 */
export async function sweepLedger(
  sql: Queries,
  onExceeded: (resolution: Resolution) => void,
): Promise<Swept> {
  return {
    holds: await repeat(() => sweepHolds(sql, onExceeded)),
    buckets: await repeat(async () => {
      const [row] = await sql<
        [{ count: number }]
      >`select ledger_sweep_buckets(${BATCH_SIZE}) as count`;
      return row.count;
    }),
    plans: await repeat(async () => {
      const [row] = await sql<
        [{ count: number }]
      >`select ledger_sweep_plans(${BATCH_SIZE}) as count`;
      return row.count;
    }),
  };
}

async function sweepHolds(
  sql: Queries,
  onExceeded: (resolution: Resolution) => void,
): Promise<number> {
  const outcomes = await sql<Outcome[]>`select * from ledger_sweep_holds(${BATCH_SIZE})`;
  let waiting = 0;
  for (const outcome of outcomes) {
    if (outcome.outcome === "insufficient") waiting++;
    if (outcome.outcome !== "resolved") continue;
    const resolution = readResolution(outcome);
    if (resolution.isBeyondHold) onExceeded(resolution);
  }
  // Those that wait for what is only reserved would be found again at once.
  return outcomes.length - waiting;
}

async function repeat(step: () => Promise<number>): Promise<number> {
  let total = 0;
  while (true) {
    const count = await step();
    total += count;
    if (count < BATCH_SIZE) return total;
  }
}
