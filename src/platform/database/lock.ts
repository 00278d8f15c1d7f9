import { join } from "node:path";
import { StorageError } from "./storage_error.ts";

/**
 * Locks a data folder for this process: two embedded databases on the same files would
 * each overwrite what the other wrote. The system releases the lock however the process ends.
 */
export async function lockFolder(folder: string): Promise<Disposable> {
  const path = join(folder, "lock");
  const file = await Deno.open(path, { create: true, read: true, write: true });
  try {
    if (!await file.tryLock(true)) {
      const pid = (await Deno.readTextFile(path)).trim();
      throw new StorageError(
        `The data folder ${folder} is in use by another gateway${pid && ` (process ${pid})`}. ` +
          "Stop that one, give this one a folder of its own with DATA_DIR, or let both share a " +
          "Postgres server with DATABASE_URL.",
      );
    }
    await file.truncate();
    await file.write(new TextEncoder().encode(`${Deno.pid}\n`));
  } catch (error) {
    file.close();
    throw error;
  }
  // The file stays: removing it would let a third process lock a new one beside a waiting second.
  return { [Symbol.dispose]: () => file.close() };
}
