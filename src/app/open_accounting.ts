import { join } from "node:path";
import type { LogRows } from "../domain/ledger/batch.ts";
import { currencyOf } from "../domain/ledger/insufficient.ts";
import { type Ledger, openLedger } from "../domain/ledger/ledger.ts";
import { startSweepLoop } from "../domain/ledger/sweep_loop.ts";
import type { Cluster } from "../platform/cluster/cluster.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";
import type { Settings } from "./environment.ts";
import { watchExceeded } from "./watch_exceeded.ts";

interface Deps {
  database: Database;
  cluster: Cluster;
  configStore: ConfigStore;
  metrics: Metrics;
  log: Log;
  /** Travels in the ledger's statements. */
  requestLog: LogRows;
}

/** What the database's function ledger_recall announces, followed by an account. */
const RECALL = "recall:";

/** The ledger, settlements that wait for the database, and the sweeper of expired holds. */
export function openAccounting(
  { database, cluster, configStore, metrics, log, requestLog }: Deps,
  { onDeploy, dataDir }: Pick<Settings, "onDeploy" | "dataDir">,
): { readonly ledger: Ledger } & AsyncDisposable {
  const onExceeded = watchExceeded({ database, cluster, metrics, log });
  const ledger = openLedger({
    database,
    money: () => currencyOf(configStore.current),
    onExceeded,
    onOrphanedHold: (id, error) =>
      log.warn("hold release failed, sweeper will retry", { request_id: id, error }),
    logRows: requestLog,
    // Not for the embedded database: it has no notifications for recalls, and its one process waits for no network.
    reserves: database.kind === "embedded" ? undefined : {
      nodeId: cluster.nodeId,
      log,
      onRecall(listener) {
        cluster.onAnnouncement((subject) => {
          if (subject.startsWith(RECALL)) listener(subject.slice(RECALL.length));
        });
        cluster.onChange((topic, account) => {
          if (topic === "account_stopped") listener(account);
        });
      },
    },
    pending: { folder: onDeploy ? undefined : join(dataDir, "settlements"), log },
  });
  cluster.onChange((topic, key) => topic === "api_key" ? ledger.keyChanged(key) : undefined);
  ledger.pending.replay();
  const sweeper = startSweepLoop(database.sql, { renew: ledger.renew, onExceeded, log });
  return {
    ledger,
    async [Symbol.asyncDispose]() {
      await sweeper[Symbol.asyncDispose]();
      await ledger.reserves?.[Symbol.asyncDispose]();
      await ledger.pending[Symbol.asyncDispose]();
    },
  };
}
