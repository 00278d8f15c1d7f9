import type { Settings } from "./environment.ts";
import { inDataDir } from "../platform/database/data_dir.ts";
import type { Database, OpenOptions } from "../platform/database/database.ts";
import { migrate } from "../platform/database/migrate.ts";
import { openDatabase } from "../platform/database/postgres.ts";
import { waitForDatabase } from "../platform/database/wait_for_database.ts";
import type { Log } from "../platform/telemetry/log.ts";

interface Given extends Pick<Settings, "databaseUrl" | "dataDir" | "databaseWaitSeconds"> {
  log: Log;
  onStuck?: OpenOptions["onStuck"];
}

/**
 * Does a step of the start: again while the database is away or cannot serve, so it must be harmless to
 * repeat, and with a sentence where the data folder cannot be used.
 */
export type WithStartupRetry = <T>(step: () => Promise<T>) => Promise<T>;

/** Opens the database and brings its schema up to this build. */
export async function openStorage(
  given: Given,
): Promise<{ database: Database; patiently: WithStartupRetry }> {
  const { databaseUrl, dataDir, databaseWaitSeconds: waitSeconds, onStuck, log } = given;
  await using opened = new AsyncDisposableStack();
  const open = () => openDatabase({ databaseUrl, dataDir, waitSeconds, log, onStuck });
  const database = opened.use(await inDataDir(dataDir, open));
  const waiting = { describe: database.describe, waitSeconds, log };
  const patiently: WithStartupRetry = (step) =>
    inDataDir(dataDir, () => waitForDatabase(waiting, step));
  const { applied, functions } = await patiently(() => migrate(database.sql));
  if (applied.length + functions.length > 0) log.info("database migrated", { applied, functions });
  opened.move();
  return { database, patiently };
}
