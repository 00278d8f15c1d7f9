import { join, resolve } from "node:path";
import { connect } from "./connect.ts";
import type { Database, OpenOptions } from "./database.ts";
import { Engine } from "./embedded_engine.ts";
import { newBackupFolder } from "./embedded_backups.ts";
import { prepareFolder } from "./embedded_folder.ts";
import { ENGINE_LIMITS, EngineFailure, EngineThread } from "./embedded_thread.ts";
import { lockFolder } from "./lock.ts";
import { maintain } from "./maintain.ts";
import { ping } from "./ping.ts";
import { StorageError } from "./storage_error.ts";

/** Opens the database inside this process, with its files in `<dataDir>/postgres`. */
export async function openEmbedded(
  { dataDir, log, engine, onStuck }: OpenOptions,
): Promise<Database> {
  const home = resolve(dataDir);
  const folder = join(home, "postgres");
  const limits = { ...ENGINE_LIMITS, ...engine };
  await using opened = new AsyncDisposableStack();

  await Deno.mkdir(home, { recursive: true, mode: 0o700 });
  opened.use(await lockFolder(home));
  const running = opened.adopt(
    await explainFailure(folder, async () => {
      const create = async (where: string) => (await EngineThread.start(where, limits)).close();
      await prepareFolder({ home, folder, create, log });
      return await Engine.start({ home, folder, limits, log, onStuck });
    }),
    (running) => running.close(),
  );

  const sql = connect({
    target: { name: folder, open: () => running.connect() },
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
    moveClock: (ms) => running.moveClock(ms),
    async backup() {
      const copy = await newBackupFolder(home);
      await running.copyTo(join(copy, "postgres"));
      return copy;
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

async function explainFailure<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof EngineFailure)) throw error;
    throw new StorageError(
      `Cannot open the embedded database in ${folder}: ${error.message}. Check that the disk has room; ` +
        "where the files are damaged, restore the folder from your backup, or move it away to start " +
        "with an empty database.",
      { cause: error },
    );
  }
}
