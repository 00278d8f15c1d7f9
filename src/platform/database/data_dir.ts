import { resolve } from "node:path";
import { ConnectionError, StorageError } from "./storage_error.ts";

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user may not use it; give it to the user that runs the gateway",
  EPERM: "this user may not use it; give it to the user that runs the gateway",
  EROFS: "it is read-only",
  ENOTDIR: "it, or what it lies in, is a file and not a folder",
  EEXIST: "it is a file and not a folder",
  ENOSPC: "its disk is full",
  EDQUOT: "its quota is used up",
  EIO: "its disk cannot be read or written",
};

/** Runs a step that needs the data folder. If the folder cannot be used, the error says so in one sentence. */
export async function inDataDir<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === null) throw error;
    throw new StorageError(
      `Cannot use the data folder ${
        resolve(dataDir)
      }: ${reason}. Correct that, or set DATA_DIR to ` +
        "a folder that the gateway may write to.",
      { cause: error },
    );
  }
}

function reasonOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (error instanceof StorageError || error instanceof ConnectionError) return null;
  // The key-value files are SQLite databases; SQLite errors have no codes for this.
  if (/unable to open database file|readonly database/.test(error.message)) return error.message;
  return REASONS[String((error as { code?: unknown }).code)] ?? null;
}
