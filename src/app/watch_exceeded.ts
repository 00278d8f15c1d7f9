import { decimal, formatDecimal } from "../lib/money.ts";
import type { Resolution } from "../domain/ledger/settle.ts";
import { slowDownIfRepeated } from "../domain/ledger/slow_down.ts";
import type { Cluster } from "../platform/cluster/cluster.ts";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";

export interface WatchDeps {
  database: Database;
  cluster: Cluster;
  metrics: Metrics;
  log: Log;
}

/** Logs settlements that exceed their holds, and slows accounts with repeated shortfalls. */
export function watchExceeded(
  { database, cluster, metrics, log }: WatchDeps,
): (resolution: Resolution) => void {
  async function slowDown(account: string): Promise<void> {
    try {
      if (await slowDownIfRepeated(database, cluster, account)) {
        log.warn("account slowed after repeated shortfalls", { account });
      }
    } catch (error) {
      // The receipts stay: the next shortfall counts them.
      log.error("account slowdown failed", { account, error });
    }
  }
  return function onExceeded({ id, account, held, taken, shortfall }) {
    const due = formatDecimal(decimal(taken) + decimal(shortfall));
    log.warn("settlement exceeded hold", { request_id: id, account, held, due, shortfall });
    metrics.settlementsBeyondHold.inc();
    if (shortfall === "0.00") return;
    metrics.shortfalls.inc();
    // Not awaited: the request has been served.
    void slowDown(account);
  };
}
