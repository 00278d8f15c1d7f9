import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { connect } from "./connect.ts";
import type { Database, OpenOptions } from "./database.ts";
import type { FromWorker, ToWorker } from "./embedded_worker.ts";
import { lockFolder } from "./lock.ts";
import { maintain } from "./maintain.ts";
import { ping } from "./ping.ts";
import { StorageError } from "./storage_error.ts";

/** Addresses of unix sockets are cut at 104 bytes (macOS) or 108 (Linux). */
const SOCKET_PATH_MAX = 100;
const CLOSE_MS = 5_000;

/** Opens the database inside this process, with its files in `<dataDir>/postgres`. */
export async function openEmbedded({ dataDir, log }: OpenOptions): Promise<Database> {
  const home = resolve(dataDir);
  const folder = join(home, "postgres");
  await using opened = new AsyncDisposableStack();

  await Deno.mkdir(home, { recursive: true, mode: 0o700 });
  opened.use(await lockFolder(home));
  const socketPath = await makeSocketPath(home, opened);
  const finishCreation = await beginCreation(home, folder, log);
  const engine = await startEngine(folder, socketPath, log);
  opened.use(engine);
  await finishCreation();

  const sql = connect({
    target: { path: socketPath },
    database: "postgres",
    user: "postgres",
    // PGlite is one session. A second connection would not run beside the first but in between:
    // its messages land in the same session, where each would bind and execute the other's portal.
    max: 1,
  });
  opened.defer(() => sql.end({ timeout: 5 }));
  await sql`select 1`;
  opened.use(maintain(sql, log));

  const parts = opened.move();
  return {
    sql,
    kind: "embedded",
    describe: folder,
    ping: () => ping(sql),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** Whoever reaches the socket is superuser, so it lies in a folder that only we may enter. */
async function makeSocketPath(home: string, opened: AsyncDisposableStack): Promise<string> {
  let folder = join(home, "socket");
  const name = ".s.PGSQL.5432";
  if (new TextEncoder().encode(join(folder, name)).length <= SOCKET_PATH_MAX) {
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    await Deno.chmod(folder, 0o700);
  } else {
    folder = await Deno.makeTempDir({ dir: tmpdir(), prefix: "tollgate-" });
  }
  // Left by a process that was killed, or by this one at the end.
  const clear = () => Deno.remove(folder, { recursive: true });
  await clear();
  await Deno.mkdir(folder, { mode: 0o700 });
  opened.defer(clear);
  return join(folder, name);
}

/**
 * The first start writes some thousand files. Should it be cut short, the marker says so, and the next
 * start begins anew: before the marker is gone nothing was stored.
 */
async function beginCreation(
  home: string,
  folder: string,
  log: OpenOptions["log"],
): Promise<() => Promise<void>> {
  const marker = join(home, "creating");
  const interrupted = await exists(marker);
  if (!interrupted && await exists(join(folder, "PG_VERSION"))) return async () => {};

  log("creating the embedded database", { folder });
  await Deno.writeTextFile(marker, "");
  if (interrupted) await Deno.remove(folder, { recursive: true }).catch(ignoreMissing);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  return () => Deno.remove(marker);
}

async function startEngine(
  folder: string,
  socketPath: string,
  log: OpenOptions["log"],
): Promise<AsyncDisposable> {
  const worker = new Worker(new URL("./embedded_worker.ts", import.meta.url), { type: "module" });
  const tell = (message: ToWorker) => worker.postMessage(message);
  const ready = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  let serving = false;
  const fail = (reason: string) => {
    // Ends its connections too, so that whoever waits for an answer gets an error.
    worker.terminate();
    ready.reject(new StorageError(`Cannot open the embedded database in ${folder}: ${reason}.`));
    closed.resolve();
    if (serving) log("the embedded database failed: restart the gateway", { folder, reason });
  };
  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    if ("ready" in data) {
      serving = true;
      ready.resolve();
    } else if ("closed" in data) closed.resolve();
    else fail(data.failed);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    fail(event.message);
  };
  tell({ open: { folder, socketPath } });
  await ready.promise;
  return {
    async [Symbol.asyncDispose]() {
      tell({ close: true });
      const timer = setTimeout(closed.resolve, CLOSE_MS);
      await closed.promise;
      clearTimeout(timer);
      worker.terminate();
    },
  };
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, (error) => ignoreMissing(error) ?? false);
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
