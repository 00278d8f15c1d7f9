import { createMissingPartitions } from "../platform/database/partitioned_tables.ts";
import type { Settings } from "./environment.ts";
import { inDataDir } from "../platform/database/data_dir.ts";
import type { Database, OpenOptions } from "../platform/database/database.ts";
import { migrate } from "../platform/database/migrate.ts";
import { openDatabase } from "../platform/database/postgres.ts";
import { waitForDatabase } from "../platform/database/wait_for_database.ts";
import type { Log } from "../platform/telemetry/log.ts";

interface Options extends Pick<Settings, "databaseUrl" | "dataDir" | "databaseWaitSeconds"> {
  log: Log;
  onStuck?: OpenOptions["onStuck"];
}

/**
 * Runs a step of the start and repeats it while the database is down or cannot serve, so the step must be
 * harmless to repeat. A data folder that cannot be used ends the start with a sentence for the operator.
 */
export type WithStartupRetry = <T>(step: () => Promise<T>) => Promise<T>;

/** Opens the database and brings its schema up to this build. */
export async function openMigratedDatabase(
  { databaseUrl, dataDir, databaseWaitSeconds: waitSeconds, onStuck, log }: Options,
): Promise<{ database: Database; withRetry: WithStartupRetry }> {
  await using opened = new AsyncDisposableStack();
  const open = () => openDatabase({ databaseUrl, dataDir, waitSeconds, log, onStuck });
  const database = opened.use(await inDataDir(dataDir, open));
  const waiting = { describe: database.describe, waitSeconds, log };
  const withRetry: WithStartupRetry = (step) =>
    inDataDir(dataDir, () => waitForDatabase(waiting, step));
  const { applied, functions } = await withRetry(() => migrate(database.sql));
  await withRetry(() => createMissingPartitions(database.sql, { isStart: true }));
  if (applied.length + functions.length > 0) log.info("database migrated", { applied, functions });
  opened.move();
  return { database, withRetry };
}
