import type { OpenRequest } from "../domain/requests/open_request.ts";
import { RequestLog, type RequestLogLimits } from "../domain/requests/request_log.ts";
import { periodic } from "../lib/timers.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Database } from "../platform/database/database.ts";
import { maintainPartitions, type PartitionedTable } from "../platform/database/partitions.ts";
import { isStorageUnavailable } from "../platform/database/storage_error.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";

interface Deps {
  database: Database;
  configStore: ConfigStore;
  metrics: Metrics;
  log: Log;
  onEnd(request: OpenRequest): void;
}

export interface RequestLogTiming extends RequestLogLimits {
  /** How often partitions are created and dropped. */
  maintainMs: number;
}

const REQUEST_TABLE: PartitionedTable = {
  table: "request",
  column: "created_at",
  every: "day",
  ahead: 2,
};
const MAINTAIN_MS = 60_000;
const DAY_MS = 86_400_000;

/** The request log, and the loop that creates its partitions and drops those that are over their time. */
export function openRequestLog(
  { database: { sql }, configStore, metrics, log, onEnd }: Deps,
  timing: Partial<RequestLogTiming> = {},
): { readonly requestLog: RequestLog } & AsyncDisposable {
  const requestLog = new RequestLog({
    write: ({ rows, isRepeated }) => sql`select request_write(${rows}::text::json, ${isRepeated})`,
    onDrop({ rows, reason, isFirst, error }) {
      metrics.requestRowsLost.inc({ reason }, rows);
      if (isFirst) log.warn("request log rows lost", { rows, reason, error });
    },
    onEnd,
    limits: timing,
  });
  const maintaining = periodic(async () => {
    // By the clock of the database: that of a node may be wrong, and what is dropped is gone.
    const [{ now }] = await sql<[{ now: Date }]>`select now() as now`;
    const keepSince = new Date(now.getTime() - configStore.current.logs.keepDays * DAY_MS);
    const { dropped } = await maintainPartitions(sql, REQUEST_TABLE, { keepSince, now });
    if (dropped.length > 0) log.info("request log days dropped", { partitions: dropped });
  }, {
    intervalMs: timing.maintainMs ?? MAINTAIN_MS,
    onError(error) {
      // An outage is reported by the readiness probe, and the next round makes up for a lock that was not free.
      if (!isStorageUnavailable(error)) log.error("request log maintenance failed", { error });
    },
  });
  return {
    requestLog,
    async [Symbol.asyncDispose]() {
      await maintaining[Symbol.asyncDispose]();
      await requestLog[Symbol.asyncDispose]();
    },
  };
}
