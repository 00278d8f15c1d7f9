import type { Database, Queries } from "../database/database.ts";
import type { CacheVersion, Cluster, Topic } from "./cluster.ts";

/** A transaction that changes what nodes may have cached. Everything in it happens, or nothing. */
export interface Change {
  readonly sql: Queries;
  /** Every node drops what it cached of the subject before the change is answered. */
  notify(topic: Topic, subject: string): Promise<void>;
  /** Runs once the change is committed. */
  afterCommit(step: () => void): void;
}

/** Runs a change. When this returns, it is committed and no node acts on the old state. */
export async function commitChange<T>(
  { database, cluster }: { database: Database; cluster: Cluster },
  run: (change: Change) => Promise<T>,
): Promise<T> {
  const versions: CacheVersion[] = [];
  const steps: (() => void)[] = [];
  const result = await database.sql.begin(async (sql) => ({
    value: await run({
      sql,
      async notify(topic, subject) {
        versions.push(await cluster.record(sql, topic, subject));
      },
      afterCommit: (step) => void steps.push(step),
    }),
  }));
  for (const step of steps) step();
  for (const version of versions) await cluster.awaitPeers(version);
  return result.value;
}
