import { cpSync } from "node:fs";
import { join } from "node:path";
import { holdsEmbedded } from "./embedded_folder.ts";
import { lockFolder } from "./lock.ts";
import { StorageError } from "./storage_error.ts";

/** A new folder for a copy, named after the time: `DATA_DIR/backups/2027-01-31T12-30-00-000Z`. */
export async function newBackupFolder(dataDir: string): Promise<string> {
  const folder = join(dataDir, "backups", timeName());
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/**
 * Puts a copy back into a data folder that no gateway uses. The database that was there is kept beside it; returns its
 * new name, or null if there was none.
 */
export async function restoreBackup(dataDir: string, copy: string): Promise<string | null> {
  if (!await holdsEmbedded(copy)) throw new StorageError(`There is no backup in ${copy}.`);
  await Deno.mkdir(dataDir, { recursive: true, mode: 0o700 });
  using _lock = await lockFolder(dataDir);
  const folder = join(dataDir, "postgres");
  // Copied beside it first: a copy that fails must not leave the data folder without a database.
  const incoming = `${folder}.restoring`;
  await Deno.remove(incoming, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  cpSync(join(copy, "postgres"), incoming, { recursive: true });
  const replaced = await holdsEmbedded(dataDir) ? `${folder}.replaced-${timeName()}` : null;
  if (replaced !== null) await Deno.rename(folder, replaced);
  await Deno.rename(incoming, folder);
  return replaced;
}

function timeName(): string {
  return new Date().toISOString().replaceAll(/[:.]/g, "-");
}
