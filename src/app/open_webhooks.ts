import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Files } from "../domain/files/files.ts";
import type { Outbound } from "../platform/outbound/safe_fetch.ts";
import type { JobHandler, Queue } from "../platform/queue/queue.ts";
import type { Database } from "../platform/database/database.ts";
import { isStorageDown } from "../platform/database/storage_error.ts";
import { openDeliveryMetrics } from "../platform/telemetry/delivery_metrics.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";
import { openSecretBox } from "../domain/webhooks/secret_box.ts";
import { deliveryWorker } from "../domain/webhooks/sender.ts";
import { pruneWebhooks } from "../domain/webhooks/prune_webhooks.ts";
import { countWebhooks, type Webhooks } from "../domain/webhooks/webhooks.ts";
import { periodic } from "../lib/timers.ts";

const PRUNE_MS = 3_600_000;

interface Given {
  database: Database;
  configStore: ConfigStore;
  queue: Pick<Queue, "ring">;
  outbound: Outbound;
  /** Signs addresses of outputs anew; null where there are no files. */
  files: Pick<Files, "signedUrl"> | null;
  metrics: Metrics;
  log: Log;
}

/** Events: what sends them, and what manages their receivers. To be disposed of after the queue. */
export interface OpenWebhooks extends AsyncDisposable {
  readonly worker: JobHandler;
  readonly webhooks: Webhooks;
  /** Waits until no attempt is under way, so long at the most. */
  settled(patienceMs: number): Promise<void>;
}

export function openWebhooks(given: Given, secretsKey: string | undefined): OpenWebhooks {
  const { database: { sql }, configStore, queue, outbound, files, log } = given;
  const secretBox = openSecretBox(secretsKey);
  const metrics = openDeliveryMetrics(given.metrics.registry, {
    sending: () => sender.sending,
    count: () => countWebhooks(sql),
  });
  const sender = deliveryWorker({
    sql,
    secretBox,
    plan: () => configStore.current,
    post: (request) => outbound.fetch(request, configStore.current.outbound),
    renewOutput: (output) => files === null ? output : output.map((item) => renew(files, item)),
    ring: (message, delayMs) => queue.ring(message, delayMs),
    onAttempt(outcome, latencyMs) {
      metrics.attempts.inc({ outcome });
      metrics.seconds.observe(latencyMs / 1000);
    },
    log,
  });
  const pruning = periodic(async () => {
    sender.forgetOld();
    await pruneWebhooks(sql);
  }, {
    intervalMs: PRUNE_MS,
    onError(error) {
      // A database outage is reported by the readiness probe.
      if (!isStorageDown(error)) log.error("webhook delivery log pruning failed", { error });
    },
  });
  return {
    worker: sender,
    webhooks: { sql, secretBox, ring: (message) => queue.ring(message) },
    settled: (patienceMs) => sender.settled(patienceMs),
    async [Symbol.asyncDispose]() {
      await Promise.all([pruning[Symbol.asyncDispose](), sender[Symbol.asyncDispose]()]);
    },
  };
}

function renew(files: Pick<Files, "signedUrl">, item: unknown): unknown {
  const { file_id } = item as { file_id?: unknown };
  if (typeof file_id !== "string") return item;
  const { url, expiresAt } = files.signedUrl(file_id, Date.now());
  return { ...item as object, url, expires_at: expiresAt.toISOString() };
}
