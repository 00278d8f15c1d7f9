import type { Queries } from "../../platform/database/database.ts";
import type { Outcome } from "./item.ts";
import { readResolution, type Resolution } from "./settle.ts";

export interface Swept {
  /** Holds that were past their time. */
  holds: number;
  /** Gifts and quotas that ended. */
  pots: number;
  /** Accounts whose plan ended or whose quotas were renewed. */
  plans: number;
}

/** Per transaction: enough to be quick, few enough that nobody waits long for a lock. */
const MOST = 500;

/**
 * Does what time has brought about, on the database's clock: resolves holds that nobody came back to,
 * ends gifts and plans, renews quotas. Any number of nodes may call it at once.
 */
export async function sweepLedger(
  sql: Queries,
  onExceeded: (resolution: Resolution) => void,
): Promise<Swept> {
  return {
    holds: await repeat(() => sweepHolds(sql, onExceeded)),
    pots: await repeat(async () => {
      const [row] = await sql<[{ count: number }]>`select ledger_sweep_buckets(${MOST}) as count`;
      return row.count;
    }),
    plans: await repeat(async () => {
      const [row] = await sql<[{ count: number }]>`select ledger_sweep_plans(${MOST}) as count`;
      return row.count;
    }),
  };
}

async function sweepHolds(
  sql: Queries,
  onExceeded: (resolution: Resolution) => void,
): Promise<number> {
  const outcomes = await sql<Outcome[]>`select * from ledger_sweep_holds(${MOST})`;
  for (const outcome of outcomes) {
    if (outcome.outcome !== "resolved") continue;
    const resolution = readResolution(outcome);
    if (resolution.isBeyondHold) onExceeded(resolution);
  }
  return outcomes.length;
}

async function repeat(step: () => Promise<number>): Promise<number> {
  let total = 0;
  while (true) {
    const count = await step();
    total += count;
    if (count < MOST) return total;
  }
}
