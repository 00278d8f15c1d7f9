/// <reference lib="deno.worker" />
/**
 * Runs the embedded database in its own thread, where its WebAssembly blocks no other work. Talks to
 * `embedded.ts`: receives the folder, reports when it is ready, receives a port for each connection, and a message
 * to close.
 */
import { cpSync, fsyncSync } from "node:fs";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { Activity } from "./embedded_activity.ts";
import { PgliteConnections } from "./pglite_connections.ts";
import { EngineClock } from "./engine_clock.ts";
import { sleep } from "../../lib/timers.ts";

export type ToEngine =
  | { open: { folder: string; activity: SharedArrayBuffer; clock: SharedArrayBuffer } }
  | { connect: MessagePort }
  | { copyTo: string }
  | { close: true };
export type FromEngine =
  | { ready: true }
  | { copied: string; error: string | null }
  | { closed: true }
  | { failed: string; isStuck?: boolean };

const say = (message: FromEngine) => self.postMessage(message);
let running: { db: PGlite; sessions: PgliteConnections; folder: string } | undefined;

self.onmessage = async ({ data }: MessageEvent<ToEngine>) => {
  try {
    if ("open" in data) {
      const { folder, activity, clock } = data.open;
      new EngineClock(clock).install();
      await waitForPredecessor(folder);
      const db = await open(folder);
      running = {
        folder,
        db,
        sessions: new PgliteConnections(db, {
          activity: new Activity(activity),
          onFatal: (reason) => say({ failed: reason }),
        }),
      };
      say({ ready: true });
    } else if ("connect" in data) {
      running!.sessions.serve(data.connect);
    } else if ("copyTo" in data) {
      say({ copied: data.copyTo, error: copyFolder(running!.folder, data.copyTo) });
    } else {
      await running?.db.close();
      say({ closed: true });
    }
  } catch (error) {
    const isStuck = error instanceof StuckError;
    say({ failed: error instanceof Error ? error.message : String(error), isStuck });
  }
};

const PREDECESSOR_MS = 5_000;

class StuckError extends Error {}

/**
 * A terminated thread may still be inside a system call. Its lock ends with it, and two engines on
 * the same files would each overwrite what the other wrote. Windows would keep the engine out as well.
 */
async function waitForPredecessor(folder: string): Promise<void> {
  if (Deno.build.os === "windows") return;
  let file: Deno.FsFile;
  try {
    file = await Deno.open(join(folder, "PG_VERSION"));
  } catch (error) {
    // A database that is being created has none yet.
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  const giveUpAt = performance.now() + PREDECESSOR_MS;
  // Never closed: the lock lasts as long as this thread.
  while (!await file.tryLock(true)) {
    if (performance.now() > giveUpAt) {
      file.close();
      throw new StuckError("the thread that ran it before does not end");
    }
    await sleep(20);
  }
}

async function open(folder: string): Promise<PGlite> {
  const db = await PGlite.create({
    dataDir: folder,
    initDbStartParams: ["--wal-segsize=4"], // a quarter of the usual: a small database stays small
    startParams: [
      // Its own defaults hold `-F`: never wait for the disk. Money must survive a power cut.
      ...PGlite.defaultStartParams.filter((param) => param !== "-F"),
      ...["-c", "wal_sync_method=fsync"],
      ...["-c", "max_wal_size=128MB"],
    ],
  });
  await syncToDisk(db, folder);
  reportFailures(db);
  return db;
}

/** The part of Emscripten's file system that is used here. */
interface FileSystem {
  root: { mount: { mounts: { opts: { root?: string }; type: { stream_ops: FileOperations } }[] } };
}

interface FileOperations {
  /** `nfd` is the file descriptor of the system; folders have none. */
  fsync?: (file: { nfd?: number }) => number;
}

/** Emscripten's file system ignores `fsync` unless a handler is installed. */
async function syncToDisk(db: PGlite, folder: string): Promise<void> {
  const { mounts } = (db.Module.FS as unknown as FileSystem).root.mount;
  const operations = mounts.find(({ opts }) => opts.root === folder)?.type.stream_ops;
  let synced = false;
  if (operations !== undefined) {
    operations.fsync = ({ nfd }) => {
      if (nfd !== undefined) fsyncSync(nfd);
      synced = true;
      return 0;
    };
  }
  await db.exec("checkpoint");
  if (!synced) throw new Error("this version of PGlite does not wait for the disk");
}

/**
 * Errors of SQL statements are returned like in Postgres and do not come here. What does has broken the
 * engine, and every later query would wait for ever: so it is reported, and the thread ends.
 */
function reportFailures(db: PGlite): void {
  const execute = db.execProtocolRawStream.bind(db);
  db.execProtocolRawStream = async (...args) => {
    try {
      return await execute(...args);
    } catch (error) {
      say({ failed: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  };
}

/**
 * Copies the files at one moment: this thread runs the engine, which does nothing meanwhile. A copy is what a power
 * cut would leave, so the next start recovers every confirmed transaction from it. Returns why it failed.
 */
function copyFolder(from: string, to: string): string | null {
  try {
    cpSync(from, to, { recursive: true, errorOnExist: true, force: false });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
