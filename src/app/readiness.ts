import type { ConfigStore } from "../platform/config/config_store.ts";
import type { HealthCheck } from "../http/health.ts";
import type { Queue } from "../platform/queue/queue.ts";
import { type Cluster, isBehind } from "../platform/cluster/cluster.ts";
import type { Database } from "../platform/database/database.ts";
import type { StorageProbe } from "../platform/database/storage_probe.ts";

export async function checkDatabase(
  database: Database | null,
  probe: StorageProbe | null,
): Promise<HealthCheck> {
  if (database === null) return { ok: false, reason: "the database is not open yet" };
  if (probe === null) return { ok: false, reason: "the database is not prepared yet" };
  const reason = await probe.check();
  return reason === null ? { ok: true, kind: database.kind } : { ok: false, reason };
}

export async function checkQueue(queue: Queue | null): Promise<HealthCheck> {
  const reason = queue === null ? "the queue is not open yet" : await queue.ailment();
  return reason === null ? { ok: true } : { ok: false, reason };
}

/** A bad file leaves the old declaration in force, so the node stays ready and says so. */
export function checkConfig(configStore: ConfigStore, cluster: Cluster | null): HealthCheck {
  const { at, ok, issues } = configStore.lastReload;
  const errors = issues.filter(({ severity }) => severity === "error").length;
  return {
    ok: true,
    version: configStore.current.version,
    last_reload: { at, ok, errors },
    ...(cluster !== null && isBehind(cluster.peers)
      ? { notice: "other nodes run a newer declaration" }
      : {}),
  };
}
