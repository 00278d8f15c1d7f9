import { FAST, type RunningPostgres, startPostgres } from "../../scripts/postgres.ts";
import { createMissingPartitions } from "../../src/platform/database/partitioned_tables.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { openDatabase } from "../../src/platform/database/postgres.ts";
import type { FreshDatabase } from "./fresh_database.ts";
import { noLog } from "./logs.ts";

/** A migrated database on a server of its own, which the test may kill and start again. */
export interface OwnPostgres extends AsyncDisposable {
  readonly server: RunningPostgres;
  readonly store: FreshDatabase & { databaseUrl: string };
}

export async function openOwnPostgres(): Promise<OwnPostgres> {
  await using parts = new AsyncDisposableStack();
  // Does not wait for the disk, but keeps what it confirmed when it is killed.
  const server = parts.use(
    await startPostgres({ settings: { ...FAST, synchronous_commit: "on" } }),
  );
  const dataDir = await Deno.makeTempDir({ prefix: "tollgate-outage-" });
  parts.defer(() => Deno.remove(dataDir, { recursive: true }));
  const open = () => openDatabase({ databaseUrl: server.url, dataDir, log: noLog });
  {
    await using database = await open();
    await migrate(database.sql);
    await createMissingPartitions(database.sql, { isStart: true });
  }
  const closing = parts.move();
  return {
    server,
    store: { databaseUrl: server.url, dataDir, open, async [Symbol.asyncDispose]() {} },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}
