import type { Database, OpenOptions } from "./database.ts";
import { openEmbedded } from "./embedded.ts";
import { openDatabaseServer } from "./server.ts";

export type { Database, OpenOptions } from "./database.ts";
export { isStorageDown, isStorageUnavailable, StorageError } from "./storage_error.ts";

/** Opens the database of `databaseUrl`, or without one the embedded database in `dataDir`. */
export function openDatabase(options: OpenOptions): Promise<Database> {
  const { databaseUrl } = options;
  return databaseUrl === undefined
    ? openEmbedded(options)
    : openDatabaseServer({ ...options, databaseUrl });
}
