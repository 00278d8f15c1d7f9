import { statfsSync } from "node:fs";
import { join } from "node:path";

const PREFIX = "tollgate-run-";
const FREE_BYTES_MIN = 4 * 2 ** 30;

export interface MemoryFolder extends Disposable {
  /** Undefined: the system has no such folder, or little room in it. */
  readonly path: string | undefined;
}

/**
 * A folder in memory for databases that need not last: creating and deleting their thousands of files costs a
 * journaling file system a third of the tests' time. Not for programs that run with limited permissions: Deno
 * does not let them read there.
 */
export function openMemoryFolder(shared = "/dev/shm"): MemoryFolder {
  if (!hasRoom(shared)) return { path: undefined, [Symbol.dispose]() {} };
  removeAbandoned(shared);
  const path = join(shared, `${PREFIX}${Deno.pid}`);
  Deno.mkdirSync(path);
  // Postgres runs as another user when root starts it.
  Deno.chmodSync(path, 0o755);
  return { path, [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }) };
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
    if (!name.startsWith(PREFIX) || isOfAnother(Number(name.slice(PREFIX.length)))) continue;
    try {
      Deno.removeSync(join(shared, name), { recursive: true });
    } catch {
      // Another user's, or removed meanwhile by another run.
    }
  }
}

/** Whether another run is going on under this process id. In a container, the next run may get the same id. */
function isOfAnother(pid: number): boolean {
  if (pid === Deno.pid) return false;
  try {
    return Deno.statSync(`/proc/${pid}`).isDirectory;
  } catch {
    return false;
  }
}
