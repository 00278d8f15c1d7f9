import { BodyLog, type BodyLogLimits } from "../domain/requests/body_log.ts";
import type { BodySeal } from "../domain/requests/body_seal.ts";
import { RequestLog, type RequestLogLimits } from "../domain/requests/request_log.ts";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";

interface Deps {
  database: Database;
  metrics: Metrics;
  log: Log;
}

export interface RequestLogTiming extends RequestLogLimits {
  bodies: Partial<BodyLogLimits>;
}

/** The request log with its bodies. */
export function openRequestLog(
  { database: { sql }, metrics, log }: Deps,
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
  return {
    requestLog,
    bodyLog,
    async [Symbol.asyncDispose]() {
      await Promise.all([requestLog[Symbol.asyncDispose](), bodyLog[Symbol.asyncDispose]()]);
    },
  };
}
