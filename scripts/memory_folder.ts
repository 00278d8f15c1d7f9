import { statfsSync } from "node:fs";
import { join } from "node:path";

const PREFIX = "tollgate-run-";
const FREE_BYTES_MIN = 4 * 2 ** 30;

/**
 * Puts temporary files into memory where the system has room for them there: tests create and delete thousands of
 * small files, which costs a journaling file system a third of their processor time. Programs started from here inherit
 * it.
 */
export function useMemoryFolder(shared = "/dev/shm"): Disposable {
  if (Deno.env.has("TMPDIR") || !hasRoom(shared)) return { [Symbol.dispose]() {} };
  removeAbandoned(shared);
  const folder = join(shared, `${PREFIX}${Deno.pid}`);
  Deno.mkdirSync(folder);
  // Postgres runs as another user when root starts it.
  Deno.chmodSync(folder, 0o755);
  Deno.env.set("TMPDIR", folder);
  return {
    [Symbol.dispose]() {
      Deno.env.delete("TMPDIR");
      Deno.removeSync(folder, { recursive: true });
    },
  };
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= FREE_BYTES_MIN;
  } catch {
    return false;
  }
}

/** A run that was killed could not remove its folder. */
function removeAbandoned(shared: string): void {
  for (const { name } of Deno.readDirSync(shared)) {
    if (!name.startsWith(PREFIX) || isRunning(Number(name.slice(PREFIX.length)))) continue;
    try {
      Deno.removeSync(join(shared, name), { recursive: true });
    } catch {
      // Another user's, or removed meanwhile by another run.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return Deno.statSync(`/proc/${pid}`).isDirectory;
  } catch {
    return false;
  }
}
