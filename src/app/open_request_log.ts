import { BodyLog, type BodyLogLimits } from "../domain/requests/body_log.ts";
import { BodySeal } from "../domain/requests/body_seal.ts";
import type { OpenRequest } from "../domain/requests/open_request.ts";
import { RequestLog, type RequestLogLimits } from "../domain/requests/request_log.ts";
import { requireSeal } from "../domain/requests/require_seal.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Database } from "../platform/database/database.ts";
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
  bodies: Partial<BodyLogLimits>;
}

export interface RequestLogs extends AsyncDisposable {
  readonly requestLog: RequestLog;
  readonly bodyLog: BodyLog;
}

interface Options {
  secretsKeys: readonly string[];
  timing?: { requestLog?: Partial<RequestLogTiming> };
}

/** The request log with its bodies. Throws when the configuration wants bodies and there is no key to seal them. */
export async function openRequestLog(
  { database: { sql }, configStore, metrics, log, onEnd }: Deps,
  { secretsKeys, timing: { requestLog: timing = {} } = {} }: Options,
): Promise<RequestLogs> {
  const seal = new BodySeal(secretsKeys);
  await configStore.guard(requireSeal(seal));
  const requestLog = new RequestLog({
    write: ({ rows, isRepeated }) =>
      sql`select request_write_rows(${rows}::text::request_row[], ${isRepeated})`,
    onDrop({ rows, reason, isFirst, error }) {
      metrics.requestRowsLost.inc({ reason }, rows);
      if (isFirst) log.warn("request log rows lost", { rows, reason, error });
    },
    onEnd,
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
