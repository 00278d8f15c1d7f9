import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Files } from "../domain/files/files.ts";
import type { Outbound } from "../platform/outbound/safe_fetch.ts";
import type { JobHandler, Queue } from "../platform/queue/queue.ts";
import type { Database } from "../platform/database/database.ts";
import { nullIfUnavailable } from "../platform/database/storage_error.ts";
import { openDeliveryMetrics } from "../platform/telemetry/delivery_metrics.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";
import type { Tracer } from "../platform/tracing/tracer.ts";
import type { SecretBox } from "../platform/secrets/types.ts";
import { deliveryWorker } from "../domain/webhooks/sender.ts";
import { countWebhooks, type Webhooks } from "../domain/webhooks/webhooks.ts";
import { periodic, rethrow } from "../lib/timers.ts";

const EXPIRE_MS = 3_600_000;

interface Deps {
  database: Database;
  secretBox: SecretBox;
  configStore: ConfigStore;
  queue: Pick<Queue, "notify">;
  outbound: Outbound;
  files: Pick<Files, "signedUrl">;
  metrics: Metrics;
  tracer: Tracer | null;
  log: Log;
}

/** Sends events to webhook endpoints and manages the endpoints. Disposed of after the queue, whose jobs it runs. */
export interface OpenWebhooks extends AsyncDisposable {
  readonly worker: JobHandler;
  readonly webhooks: Webhooks;
  /** Waits until no attempt is under way, for `maxMs` at most. */
  settled(maxMs: number): Promise<void>;
}

export function openWebhooks(deps: Deps): OpenWebhooks {
  const { database: { sql }, secretBox, configStore, queue, outbound, files, log } = deps;
  const metrics = openDeliveryMetrics(deps.metrics.registry, {
    sending: () => sender.sending,
    count: () => countWebhooks(sql).catch(nullIfUnavailable),
  });
  const sender = deliveryWorker({
    sql,
    secretBox,
    config: () => configStore.current,
    post: (request) => outbound.fetch(request, configStore.current.outbound),
    renewOutput: (output) => output.map((item) => withFreshUrl(files, item)),
    notify: (message, delayMs) => queue.notify(message, delayMs),
    tracer: deps.tracer,
    onAttempt(outcome, latencyMs) {
      metrics.attempts.inc({ outcome });
      metrics.seconds.observe(latencyMs / 1000);
    },
    log,
  });
  const expiring = periodic(() => sender.expireHealth(), {
    intervalMs: EXPIRE_MS,
    onError: rethrow,
  });
  return {
    worker: sender,
    webhooks: {
      sql,
      begin: (run) => sql.begin((tx) => run(tx)) as ReturnType<typeof run>,
      secretBox,
      notify: (message) => queue.notify(message),
    },
    settled: (maxMs) => sender.settled(maxMs),
    async [Symbol.asyncDispose]() {
      await Promise.all([expiring[Symbol.asyncDispose](), sender[Symbol.asyncDispose]()]);
    },
  };
}

/** Signed URLs expire: an event that is sent late carries a new one. */
function withFreshUrl(files: Pick<Files, "signedUrl">, item: unknown): unknown {
  const { file_id } = item as { file_id?: unknown };
  if (typeof file_id !== "string") return item;
  const { url, expiresAt } = files.signedUrl(file_id, Date.now());
  return { ...item as object, url, expires_at: expiresAt.toISOString() };
}
