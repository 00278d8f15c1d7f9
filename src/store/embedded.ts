import type { Duplex } from "node:stream";
import { join, resolve } from "node:path";
import { connect } from "./connect.ts";
import type { Database, OpenOptions } from "./database.ts";
import type { FromWorker, ToWorker } from "./embedded_worker.ts";
import { EngineClock } from "./engine_clock.ts";
import { lockFolder } from "./lock.ts";
import { maintain } from "./maintain.ts";
import { ping } from "./ping.ts";
import { PortSocket } from "./port_socket.ts";
import { ConnectionError, StorageError } from "./storage_error.ts";

const CLOSE_MS = 5_000;

/** Opens the database inside this process, with its files in `<dataDir>/postgres`. */
export async function openEmbedded({ dataDir, log }: OpenOptions): Promise<Database> {
  const home = resolve(dataDir);
  const folder = join(home, "postgres");
  await using opened = new AsyncDisposableStack();

  await Deno.mkdir(home, { recursive: true, mode: 0o700 });
  opened.use(await lockFolder(home));
  const finishCreation = await beginCreation(home, folder, log);
  const engine = await startEngine(folder, log);
  opened.use(engine);
  await finishCreation();

  const sql = connect({
    target: { name: folder, open: () => engine.connect() },
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
    moveClock: (ms) => engine.clock.move(ms),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
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

interface Engine extends AsyncDisposable {
  readonly clock: EngineClock;
  connect(): Duplex;
}

async function startEngine(folder: string, log: OpenOptions["log"]): Promise<Engine> {
  const worker = new Worker(new URL("./embedded_worker.ts", import.meta.url), { type: "module" });
  const tell = (message: ToWorker, ports: MessagePort[] = []) => worker.postMessage(message, ports);
  const ready = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const connections = new Set<Duplex>();
  let state: "starting" | "serving" | "ended" = "starting";
  const end = (reason?: string) => {
    worker.terminate();
    state = "ended";
    // Whoever waits for an answer gets an error; the thread can give none any more.
    for (const connection of connections) {
      connection.destroy(reason === undefined ? undefined : lostEngine(reason));
    }
  };
  const fail = (reason: string) => {
    if (state === "serving") {
      log("the embedded database failed: restart the gateway", { folder, reason });
    }
    end(reason);
    ready.reject(new StorageError(`Cannot open the embedded database in ${folder}: ${reason}.`));
    closed.resolve();
  };
  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    if ("ready" in data) {
      state = "serving";
      ready.resolve();
    } else if ("closed" in data) closed.resolve();
    else fail(data.failed);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    fail(event.message);
  };
  const clock = new EngineClock();
  tell({ open: { folder, clock: clock.memory } });
  await ready.promise;
  return {
    clock,
    connect() {
      if (state !== "serving") throw lostEngine("it has ended");
      const { port1, port2 } = new MessageChannel();
      tell({ connect: port2 }, [port2]);
      const connection = new PortSocket(port1);
      connections.add(connection);
      return connection.once("close", () => connections.delete(connection));
    },
    async [Symbol.asyncDispose]() {
      if (state === "serving") {
        tell({ close: true });
        const timer = setTimeout(closed.resolve, CLOSE_MS);
        await closed.promise;
        clearTimeout(timer);
      }
      end();
    },
  };
}

function lostEngine(reason: string): ConnectionError {
  return new ConnectionError("CONNECTION_CLOSED", `the embedded database is gone: ${reason}`);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, (error) => ignoreMissing(error) ?? false);
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
