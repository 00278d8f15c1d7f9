import { dirname } from "node:path";
import type { Log } from "../telemetry/log.ts";

/** What SQLite says of files that are not, or no longer, its own. */
const BROKEN = /file is not a database|malformed|corrupt/i;

/**
 * Opens a key-value file of this machine. The caller closes it. Such a file holds nothing that must last:
 * one that cannot be read is set aside, for whoever wants to look at it, and made anew.
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
    // SQLite's own log of changes would be applied to the new file.
    for (const suffix of ["-wal", "-shm"]) await Deno.remove(path + suffix).catch(ignoreMissing);
    return await Deno.openKv(path);
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
