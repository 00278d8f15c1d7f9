import { join } from "node:path";
import type { Histogram } from "prom-client";
import { sleep } from "../lib/timers.ts";
import type { Cluster } from "../platform/cluster/cluster.ts";
import type { ConfigStore } from "../platform/config/config_store.ts";
import type { Database } from "../platform/database/database.ts";
import { KvQueue } from "../platform/queue/kv_queue.ts";
import type { Queue } from "../platform/queue/queue.ts";
import type { Log } from "../platform/telemetry/log.ts";
import { SettingsError } from "./environment.ts";

interface Deps {
  database: Database;
  cluster: Cluster;
  configStore: ConfigStore;
  stepSeconds: Histogram<"kind" | "outcome">;
  log: Log;
}

interface Options {
  hostId: string;
  dataDir: string;
  databaseUrl: string | undefined;
}

/** A node that died counts as alive for ten seconds. */
const OTHER_NODE_MS = 12_000;
const POLL_MS = 250;

/** Opens the configured queue, or says why that one cannot work here. */
export async function openQueue(deps: Deps, options: Options): Promise<Queue> {
  const { database, configStore, stepSeconds, log } = deps;
  const onStep = (kind: string, ms: number, outcome: string) =>
    stepSeconds.observe({ kind, outcome }, ms / 1000);
  if (configStore.current.storage.queue === "postgres") {
    // Loaded only where it is used: it brings a second driver.
    const { GraphileQueue, migrateQueue } = await import("../platform/queue/graphile_queue.ts");
    const databaseUrl = options.databaseUrl!; // validateEnvironment refuses a queue in Postgres without a server
    await migrateQueue(database.sql, databaseUrl);
    return new GraphileQueue({ sql: database.sql, databaseUrl, onStep, log });
  }
  await waitForOtherHosts(deps, options);
  return await KvQueue.open({ path: join(options.dataDir, "queue.sqlite3"), onStep, log });
}

/** A queue in a file wakes only the process that has the file: other nodes would depend on the sweeper alone. */
async function waitForOtherHosts({ cluster, log }: Deps, { hostId }: Options): Promise<void> {
  const others = () => cluster.peers.filter((peer) => peer.hostId !== hostId);
  for (let waitedMs = 0; others().length > 0; waitedMs += POLL_MS) {
    if (waitedMs === 0) log.info("waiting for another node to stop, storage.queue is kv");
    if (waitedMs >= OTHER_NODE_MS) {
      throw new SettingsError(
        "storage.queue is kv, a file of one machine, and another node runs on this database " +
          `(${others()[0]!.hostId ?? "unknown"}). Set storage.queue: postgres for several nodes.`,
      );
    }
    await sleep(POLL_MS);
  }
}
