import { RequestLog, type RequestLogLimits } from "../domain/requests/request_log.ts";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";

interface Deps {
  database: Database;
  metrics: Metrics;
  log: Log;
}

export function openRequestLog(
  { database: { sql }, metrics, log }: Deps,
  limits: Partial<RequestLogLimits> = {},
): RequestLog {
  return new RequestLog({
    write: ({ rows, isRepeated }) => sql`select request_write(${rows}::text::json, ${isRepeated})`,
    onDrop({ rows, reason, isFirst, error }) {
      metrics.requestRowsLost.inc({ reason }, rows);
      if (isFirst) log.warn("request log rows lost", { rows, reason, error });
    },
    limits,
  });
}
