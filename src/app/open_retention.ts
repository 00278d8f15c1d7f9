import { Stores } from "../domain/files/stores.ts";
import { periodic } from "../lib/timers.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Database } from "../platform/database/database.ts";
import { isStorageUnavailable } from "../platform/database/storage_error.ts";
import type { Log } from "../platform/telemetry/log.ts";
import {
  keepPartitions,
  type RetentionDeps,
  sweepStorage,
} from "../workflows/retention/sweep_storage.ts";
import type { Settings } from "./environment.ts";

interface Deps {
  database: Database;
  configStore: ConfigStore;
  log: Log;
}

export interface RetentionTiming {
  /** How often partitions are created, and days of the request log dropped. */
  partitionsMs: number;
  /** How often everything else that is over its time is removed or archived. */
  sweepMs: number;
}

const TIMING: RetentionTiming = { partitionsMs: 60_000, sweepMs: 3_600_000 };

/** The loops that create partitions, and that remove what is over its time. Every node runs them. */
export function openRetention(
  { database: { sql }, configStore, log }: Deps,
  { dataDir }: Pick<Settings, "dataDir">,
  timing: Partial<RetentionTiming> = {},
): { readonly retention: RetentionDeps } & AsyncDisposable {
  const { partitionsMs, sweepMs } = { ...TIMING, ...timing };
  const config = () => configStore.current;
  const stores = new Stores(dataDir, () => config().storage);
  const retention: RetentionDeps = { sql, stores, config, log };
  const onError = (error: unknown) => {
    // An outage is reported by the readiness probe, and the next round makes up for a lock that was not free.
    if (!isStorageUnavailable(error)) log.error("storage sweep failed", { error });
  };
  const partitions = periodic(() => keepPartitions(retention), {
    intervalMs: partitionsMs,
    onError,
  });
  const sweeping = periodic(() => sweepStorage(retention), { intervalMs: sweepMs, onError });
  return {
    retention,
    async [Symbol.asyncDispose]() {
      await Promise.all([partitions[Symbol.asyncDispose](), sweeping[Symbol.asyncDispose]()]);
    },
  };
}
