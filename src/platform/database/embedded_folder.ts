import { join } from "node:path";
import type { OpenOptions } from "./database.ts";
import { StorageError } from "./storage_error.ts";

/** Present in every complete database folder; one that lacks any of them cannot be opened. */
const ESSENTIAL = ["PG_VERSION", "base", "global/pg_control", "pg_wal"];

const RESTORE =
  "Stop the gateway, restore this folder from your backup, or move it away to start " +
  "with an empty database.";

/**
 * Makes sure that `folder` holds a database, and never replaces one. Only a folder that is missing or
 * empty is new: it is created under another name beside it and renamed when complete, so a folder with the
 * right name is always complete, and an interrupted creation can be removed safely.
 */
export async function prepareFolder(
  { home, folder, create, log }: {
    home: string;
    folder: string;
    create: (folder: string) => Promise<void>;
    log: OpenOptions["log"];
  },
): Promise<void> {
  await removeInterrupted(home, folder);
  const names = await namesIn(folder);
  if (names !== null && names.length > 0) return await checkComplete(folder, names);

  log.info("embedded database is being created", { folder });
  // If the folder is a symbolic link, the database belongs at its target.
  const target = names === null ? folder : await Deno.realPath(folder);
  const creating = `${target}.creating`;
  await Deno.remove(creating, { recursive: true }).catch(ignoreMissing);
  await Deno.mkdir(creating, { recursive: true, mode: 0o700 });
  await create(creating);
  try {
    await Deno.rename(creating, target);
  } catch (cause) {
    throw new StorageError(
      `Cannot create the embedded database: the folder ${creating} cannot be renamed to ${target}. ` +
        "Where that is a mounted volume, mount it at DATA_DIR instead.",
      { cause },
    );
  }
}

/** Earlier releases created in place; a file named `creating` marked that they had not finished. */
async function removeInterrupted(home: string, folder: string): Promise<void> {
  const marker = join(home, "creating");
  if (!await exists(marker)) return;
  const names = await namesIn(folder);
  if (names !== null && await firstMissing(folder) === null) {
    throw new StorageError(
      `The file ${marker} says that the creation of ${folder} was cut short. If you restored a ` +
        "backup into that folder since, remove the file; if not, move the folder away.",
    );
  }
  await Deno.remove(folder, { recursive: true }).catch(ignoreMissing);
  await Deno.remove(marker);
}

async function checkComplete(folder: string, names: readonly string[]): Promise<void> {
  const missing = await firstMissing(folder);
  if (missing === null) return;
  const isDatabase = ESSENTIAL.some((path) => names.includes(path.split("/")[0]!));
  throw new StorageError(
    isDatabase
      ? `The embedded database in ${folder} is damaged: ${missing} is missing. ${RESTORE}`
      : `The folder ${folder} is not empty and not a database (${missing} is missing). ${RESTORE}`,
  );
}

async function firstMissing(folder: string): Promise<string | null> {
  for (const path of ESSENTIAL) if (!await exists(join(folder, path))) return path;
  return null;
}

/** The entries of a folder; null if there is none. */
async function namesIn(folder: string): Promise<string[] | null> {
  try {
    return await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, (error) => ignoreMissing(error) ?? false);
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

/** Whether a data folder has an embedded database. */
export async function holdsEmbedded(dataDir: string): Promise<boolean> {
  return await exists(join(dataDir, "postgres", "PG_VERSION"));
}
