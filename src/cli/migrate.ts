import { migrate as applyMigrations } from "../platform/database/migrate.ts";
import { openDatabase } from "../platform/database/postgres.ts";
import type { Command } from "./command.ts";

export const runMigrate: Command = {
  usage: "migrate",
  summary: "Update the database to this version (the gateway also does this at start)",
  async run(terminal) {
    const { databaseUrl, dataDir, databaseWaitSeconds: waitSeconds } = terminal.settings;
    await using database = await openDatabase({
      databaseUrl,
      dataDir,
      waitSeconds,
      log: { info: (message) => console.error(message) },
    });
    const { applied, functions } = await applyMigrations(database.sql);
    // Also when the queue is a KV file: a later switch to Postgres then needs no right to create tables.
    if (databaseUrl !== undefined) {
      const { migrateQueue } = await import("../platform/queue/graphile_queue.ts");
      await migrateQueue(database.sql, databaseUrl);
    }
    terminal.print(
      { database: database.describe, applied, functions },
      applied.length + functions.length === 0
        ? `${database.describe} is up to date.`
        : `${database.describe}: applied ${
          applied.length === 0 ? "no migration" : applied.join(", ")
        }; ` +
          `${functions.length} functions replaced.`,
    );
    return 0;
  },
};
