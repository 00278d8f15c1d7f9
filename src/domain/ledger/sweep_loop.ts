import type { Queries } from "../../platform/database/database.ts";
import { isStorageDown } from "../../platform/database/storage_error.ts";
import type { Resolution } from "./settle.ts";
import { sweepLedger } from "./sweep.ts";
import { rollUpUsage } from "./usage_days.ts";
import { periodic } from "../../lib/timers.ts";
import type { Log } from "../../platform/telemetry/log.ts";

export interface SweepLoopOptions {
  /** Renews what this process still has open. */
  renew(): Promise<void>;
  onExceeded(resolution: Resolution): void;
  log: Pick<Log, "info" | "error">;
}

const EVERY_MS = 5_000;
/** After the database was away, the living renew what they hold before anybody ends it. */
const RENEWALS_FIRST = 3;
/** It hung rather than being busy. */
const HUNG_MS = 10_000;

/** Sweeps every few seconds until disposed. Every node does; they do not get in each other's way. */
export function startSweepLoop(
  sql: Queries,
  { renew, onExceeded, log }: SweepLoopOptions,
): AsyncDisposable {
  let renewalsFirst = 0;

  async function run(): Promise<void> {
    // A sweep that hangs with the database would be the first thing it does when it is back.
    const askedAt = performance.now();
    await sql`select 1`;
    if (performance.now() - askedAt > HUNG_MS) renewalsFirst = RENEWALS_FIRST;
    await renew();
    if (renewalsFirst > 0) {
      renewalsFirst--;
      return;
    }
    const swept = await sweepLedger(sql, onExceeded);
    if (swept.holds + swept.pots + swept.plans > 0) log.info("swept the ledger", { ...swept });
    await rollUpUsage(sql);
  }
  return periodic(run, {
    intervalMs: EVERY_MS,
    onError(error) {
      // While the database is away everybody says so already.
      if (isStorageDown(error)) renewalsFirst = RENEWALS_FIRST;
      else log.error("cannot sweep the ledger", { error });
    },
  });
}
