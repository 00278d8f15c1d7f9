import { dirname } from "node:path";
import type { Log } from "../telemetry/log.ts";

/** SQLite's messages for files that are not, or no longer, valid databases. */
const BROKEN = /file is not a database|malformed|corrupt/i;

/**
 * Opens a key-value file of this host. The caller closes it. Such a file contains nothing that must be durable:
 * one that cannot be read is renamed, for inspection, and a new one is created.
 */
export async function openKv(path: string, log: Pick<Log, "warn">): Promise<Deno.Kv> {
  await Deno.mkdir(dirname(path), { recursive: true });
  try {
    return await Deno.openKv(path);
  } catch (error) {
    if (!(error instanceof Error) || !BROKEN.test(error.message)) throw error;
    const aside = `${path}.broken-${new Date().toISOString().replaceAll(":", "-")}`;
    log.warn("key-value file broken, set aside and made anew", { path, aside, error });
    await Deno.rename(path, aside);
    // SQLite would apply the WAL of the old file to the new one.
    for (const suffix of ["-wal", "-shm"]) await Deno.remove(path + suffix).catch(ignoreMissing);
    return await Deno.openKv(path);
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
