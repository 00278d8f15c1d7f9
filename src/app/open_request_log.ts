import { BodyLog, type BodyLogLimits } from "../domain/requests/body_log.ts";
import type { BodySeal } from "../domain/requests/body_seal.ts";
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
}

export interface RequestLogTiming extends RequestLogLimits {
  /** How often partitions are created and dropped. */
  maintainMs: number;
  bodies: Partial<BodyLogLimits>;
}

const DAILY = { column: "created_at", every: "day", ahead: 2 } as const;
const REQUEST_TABLE: PartitionedTable = { table: "request", ...DAILY };
const BODY_TABLE: PartitionedTable = { table: "request_body", ...DAILY };
const MAINTAIN_MS = 60_000;
const DAY_MS = 86_400_000;

/** The request log with its bodies, and the loop that creates its partitions and drops those that are over their time. */
export function openRequestLog(
  { database: { sql }, configStore, metrics, log }: Deps,
  seal: BodySeal,
  timing: Partial<RequestLogTiming> = {},
): { readonly requestLog: RequestLog; readonly bodyLog: BodyLog } & AsyncDisposable {
  const requestLog = new RequestLog({
    write: ({ rows, isRepeated }) => sql`select request_write(${rows}::text::json, ${isRepeated})`,
    onDrop({ rows, reason, isFirst, error }) {
      metrics.requestRowsLost.inc({ reason }, rows);
      if (isFirst) log.warn("request log rows lost", { rows, reason, error });
    },
    limits: timing,
  });
  const bodyLog = new BodyLog({
    sql,
    seal,
    onLoss({ requests, reason, error }) {
      metrics.requestBodiesLost.inc({ reason }, requests);
      if (reason === "refused") log.error("request bodies not stored", { requests, error });
    },
    limits: timing.bodies ?? {},
  });
  const maintaining = periodic(async () => {
    // By the clock of the database: that of a node may be wrong, and what is dropped is gone.
    const [{ now }] = await sql<[{ now: Date }]>`select now() as now`;
    const keepSince = new Date(now.getTime() - configStore.current.logs.keepDays * DAY_MS);
    for (const table of [REQUEST_TABLE, BODY_TABLE]) {
      const { dropped } = await maintainPartitions(sql, table, { keepSince, now });
      if (dropped.length > 0) log.info("request log days dropped", { partitions: dropped });
    }
  }, {
    intervalMs: timing.maintainMs ?? MAINTAIN_MS,
    onError(error) {
      // An outage is reported by the readiness probe, and the next round makes up for a lock that was not free.
      if (!isStorageUnavailable(error)) log.error("request log maintenance failed", { error });
    },
  });
  return {
    requestLog,
    bodyLog,
    async [Symbol.asyncDispose]() {
      await maintaining[Symbol.asyncDispose]();
      await Promise.all([requestLog[Symbol.asyncDispose](), bodyLog[Symbol.asyncDispose]()]);
    },
  };
}
