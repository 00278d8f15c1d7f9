import { sleep } from "../../lib/timers.ts";
import type { Queries } from "../../platform/database/database.ts";
import { RESERVE_TIMING } from "./reserve_timing.ts";

/** Nodes return a reserve at once; a little longer than that is enough while all of them are alive. */
const WAIT_MS = 1_000;
const PAUSE_MS = 20;
const SWEEP_SIZE = 100;

interface Booked {
  outcome: string;
  /** When the lease of a node that does not answer has ended. */
  retry_ms?: number | null;
}

/**
 * Repeats a booking as long as it is refused only for money that nodes have reserved and not used: the refusal has asked
 * them to return it. The reserve of a dead node is returned when its lease has ended.
 */
export async function retryReserved<T extends Booked>(
  sql: Queries,
  book: () => Promise<T>,
): Promise<T> {
  let booked = await book();
  if (booked.outcome !== "reserved") return booked;
  const giveUpAt = performance.now() +
    WAIT_MS + (booked.retry_ms ?? RESERVE_TIMING.leaseMs);
  while (booked.outcome === "reserved" && performance.now() < giveUpAt) {
    await sleep(PAUSE_MS);
    await sweepReserves(sql);
    booked = await book();
  }
  return booked;
}

/** Returns reserves whose node has not renewed them. Any number of nodes may call it. */
export async function sweepReserves(sql: Queries): Promise<number> {
  const [row] = await sql<
    [{ count: number }]
  >`select ledger_sweep_reserves(${SWEEP_SIZE}) as count`;
  return row.count;
}
