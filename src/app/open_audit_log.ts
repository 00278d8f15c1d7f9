import { periodic } from "../lib/timers.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Database } from "../platform/database/database.ts";
import { maintainPartitions, type PartitionedTable } from "../platform/database/partitions.ts";
import { isStorageUnavailable } from "../platform/database/storage_error.ts";
import type { Log } from "../platform/telemetry/log.ts";

const AUDIT_TABLE: PartitionedTable = {
  table: "audit_entry",
  column: "created_at",
  every: "month",
  ahead: 2,
};
const MAINTAIN_MS = 10 * 60_000;
const DAY_MS = 86_400_000;

/**
 * Creates the partitions of the audit log and drops months that are over their time: now, because an entry that is
 * written while the partition of its month is created may fail, and in a loop.
 */
export async function openAuditLog(
  { database: { sql }, configStore, log }: {
    database: Database;
    configStore: ConfigStore;
    log: Log;
  },
  maintainMs = MAINTAIN_MS,
): Promise<AsyncDisposable> {
  const maintain = async () => {
    // By the clock of the database: that of a node may be wrong, and what is dropped is gone.
    const [{ now }] = await sql<[{ now: Date }]>`select now() as now`;
    const keepSince = new Date(now.getTime() - configStore.current.logs.auditKeepDays * DAY_MS);
    const { dropped } = await maintainPartitions(sql, AUDIT_TABLE, { keepSince, now });
    if (dropped.length > 0) log.info("audit log months dropped", { partitions: dropped });
  };
  const onError = (error: unknown) => {
    if (!isStorageUnavailable(error)) log.error("audit log maintenance failed", { error });
  };
  await maintain().catch(onError);
  return periodic(maintain, { intervalMs: maintainMs, onError });
}
