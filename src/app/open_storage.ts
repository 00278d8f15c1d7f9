import { inUseGuard } from "../domain/accounts/removed_in_use.ts";
import { currencyGuard } from "../domain/ledger/currency.ts";
import type { SecretBox } from "../platform/secrets/types.ts";
import { type Cluster, joinCluster } from "../platform/cluster/cluster.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Database } from "../platform/database/database.ts";
import { StorageProbe } from "../platform/database/storage_probe.ts";
import type { Queue } from "../platform/queue/queue.ts";
import { openTaskMetrics, type TaskMetrics } from "../platform/telemetry/task_metrics.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";
import { findAdminToken } from "./admin_token.ts";
import type { GatewayOptions } from "./gateway.ts";
import { warnOfForgottenData } from "./forgotten_data.ts";
import { findHostId } from "./host_id.ts";
import { NodeAgreement } from "./node_agreement.ts";
import { openMigratedDatabase, type WithStartupRetry } from "./open_database.ts";
import { openQueue } from "./open_queue.ts";
import { openSecrets } from "./open_secrets.ts";
import type { NodeReadiness } from "./readiness.ts";
import { watchTime } from "./watch_time.ts";

interface Deps {
  configStore: ConfigStore;
  metrics: Metrics;
  readiness: NodeReadiness;
}

/** What remembers: the database, the nodes that share it, and the queue that wakes workers. */
export interface GatewayStorage extends AsyncDisposable {
  readonly database: Database;
  readonly cluster: Cluster;
  readonly queue: Queue;
  readonly taskMetrics: TaskMetrics;
  readonly adminToken: string;
  readonly secretBox: SecretBox;
  readonly withRetry: WithStartupRetry;
}

/** Opens the storage. Each part reports to `readiness` as soon as it is open: a start may wait for the next one. */
export async function openStorage(
  { configStore, metrics, readiness }: Deps,
  options: GatewayOptions,
): Promise<GatewayStorage> {
  const { log, dataDir } = options;
  await using opened = new AsyncDisposableStack();
  const { database, withRetry } = await openMigratedDatabase(options);
  opened.use(database);
  readiness.attach({ database });
  await withRetry(() => warnOfForgottenData(database, options));
  opened.use(watchTime(database, log, options.timing?.clock));
  const adminToken = await withRetry(() => findAdminToken(options.adminToken, dataDir));
  log.hide([adminToken]);
  const secretBox = await withRetry(() => openSecrets(database.sql, options));
  const agreement = await withRetry(() =>
    NodeAgreement.open({ database, configStore, log }, { ...options, adminToken })
  );
  const hostId = findHostId(dataDir);
  const cluster = opened.use(
    await joinCluster(database, {
      configVersion: () => configStore.current.version,
      currency: () => configStore.current.service.currency,
      hostId,
      queue: configStore.current.storage.queue,
      fingerprints: agreement.fingerprints,
      log,
      withRetry,
    }),
  );
  const probe = new StorageProbe(database.sql, {
    row: database.kind === "embedded" ? "readiness" : cluster.nodeId,
    log,
  });
  readiness.attach({ cluster, probe, agreement });
  await withRetry(() => configStore.guard(currencyGuard(database.sql, cluster.nodeId)));
  await configStore.guard(inUseGuard(database.sql));
  const taskMetrics = openTaskMetrics(metrics.registry);
  const queue = opened.use(
    await withRetry(() =>
      openQueue(
        { database, cluster, configStore, stepSeconds: taskMetrics.steps, log },
        { hostId, dataDir, databaseUrl: options.databaseUrl },
      )
    ),
  );
  readiness.attach({ queue });
  await agreement.reached(cluster);
  const parts = opened.move();
  return {
    database,
    cluster,
    queue,
    taskMetrics,
    adminToken,
    secretBox,
    withRetry,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
