import type { Queries } from "../../platform/database/database.ts";
import { isStorageDown } from "../../platform/database/storage_error.ts";
import { sweepReserves } from "./retry_reserved.ts";
import type { Resolution } from "./settle.ts";
import { sweepLedger } from "./sweep.ts";
import { rollUpUsage } from "./usage_days.ts";
import { periodic } from "../../lib/timers.ts";
import type { Log } from "../../platform/telemetry/log.ts";

export interface SweepLoopOptions {
  /** Renews the open holds of this process. */
  renew(): Promise<void>;
  onExceeded(resolution: Resolution): void;
  log: Pick<Log, "info" | "error">;
}

const EVERY_MS = 5_000;
/** After a database outage, running processes get this time to renew their holds before holds are resolved. */
const RENEWALS_FIRST = 3;
/** A sweep that takes longer hangs. */
const HUNG_MS = 10_000;

/** Sweeps every few seconds until disposed. Every node does; a lock in the database lets one at a time do the work. */
export function startSweepLoop(
  sql: Queries,
  { renew, onExceeded, log }: SweepLoopOptions,
): AsyncDisposable {
  let renewalsFirst = 0;

  async function run(): Promise<void> {
    // A hanging sweep would be the first statement that the database executes when it is back.
    const askedAt = performance.now();
    await sql`select 1`;
    if (performance.now() - askedAt > HUNG_MS) renewalsFirst = RENEWALS_FIRST;
    await renew();
    if (renewalsFirst > 0) {
      renewalsFirst--;
      return;
    }
    const swept = await sweepLedger(sql, onExceeded);
    await sweepReserves(sql);
    if (swept.holds + swept.buckets + swept.plans > 0) log.info("ledger swept", { ...swept });
    await rollUpUsage(sql);
  }
  return periodic(run, {
    intervalMs: EVERY_MS,
    onError(error) {
      // Other parts log database outages already.
      if (isStorageDown(error)) renewalsFirst = RENEWALS_FIRST;
      else log.error("ledger sweep failed", { error });
    },
  });
}
