import { join } from "node:path";
import { SettingsError } from "./environment.ts";
import { KvQueue, type KvQueueOptions } from "../platform/queue/kv_queue.ts";
import type { Queue } from "../platform/queue/queue.ts";
import type { Cluster } from "../platform/cluster/cluster.ts";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/telemetry/log.ts";
import { sleep } from "../lib/timers.ts";

interface Given {
  kind: "kv" | "postgres";
  database: Database;
  databaseUrl: string | undefined;
  dataDir: string;
  cluster: Cluster;
  home: string;
  onStep: NonNullable<KvQueueOptions["onStep"]>;
  log: Log;
}

/** A node that died is taken for alive for ten seconds. */
const PATIENCE_MS = 12_000;
const LOOK_MS = 250;

/** Opens the queue that the declaration asks for, or says why that cannot work here. */
export async function openQueue(given: Given): Promise<Queue> {
  const { onStep, log } = given;
  if (given.kind === "postgres") {
    // Loaded only where it is used: it brings a second driver.
    const { GraphileQueue, migrateQueue } = await import("../platform/queue/graphile_queue.ts");
    await migrateQueue(given.database.sql, given.databaseUrl!);
    return new GraphileQueue({
      sql: given.database.sql,
      databaseUrl: given.databaseUrl!,
      onStep,
      log,
    });
  }
  await beAlone(given);
  return await KvQueue.open({ path: join(given.dataDir, "queue.sqlite3"), onStep, log });
}

/** A queue in a file wakes only who has the file: nodes elsewhere would live on the sweeper alone. */
async function beAlone({ cluster, home, log }: Given): Promise<void> {
  const others = () => cluster.peers.filter((peer) => peer.hostId !== home);
  for (let waitedMs = 0; others().length > 0; waitedMs += LOOK_MS) {
    if (waitedMs === 0) log.info("waiting for another node to end: storage.queue is kv");
    if (waitedMs >= PATIENCE_MS) {
      throw new SettingsError(
        "storage.queue is kv, a file of one machine, and another node runs on this database " +
          `(${
            others()[0]!.hostId ?? "unknown"
          }). Declare storage.queue: postgres for several nodes.`,
      );
    }
    await sleep(LOOK_MS);
  }
}
