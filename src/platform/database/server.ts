import type postgres from "postgres";
import { type DatabaseAddress, parseDatabaseUrl } from "./database_url.ts";
import { connect } from "./connect.ts";
import type { Database, OpenOptions } from "./database.ts";
import { ping } from "./ping.ts";
import { StorageError } from "./storage_error.ts";
import { reasonOf, waitForDatabase } from "./wait_for_database.ts";

/** Opens the database of `databaseUrl`, waiting for a server that is still starting. */
export async function openDatabaseServer(
  { databaseUrl, log, waitSeconds = 60, connections = 10 }: OpenOptions & { databaseUrl: string },
): Promise<Database> {
  const address = parseDatabaseUrl(databaseUrl);
  const sql = connect({ ...address, max: connections });
  const describe = describeAddress(address, sql);
  try {
    const [{ version }] = await waitForDatabase(
      { describe, log, waitSeconds },
      () =>
        sql<[{ version: number }]>`
          select current_setting('server_version_num')::int as version`,
    );
    const fault = versionFault(version);
    if (fault !== null) throw new StorageError(`Cannot use the database ${describe}: ${fault}`);
  } catch (error) {
    await sql.end();
    if (error instanceof StorageError) throw error;
    const reason = reasonOf(error as Error);
    throw new StorageError(`Cannot use the database ${describe}: ${reason}.`, { cause: error });
  }
  return {
    sql,
    kind: "server",
    describe,
    ping: () => ping(sql),
    [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }),
  };
}

const VERSION_MIN = 15;

/** Why a server of this `server_version_num` cannot be used; null if it can. */
export function versionFault(version: number): string | null {
  const major = Math.floor(version / 10_000);
  return major >= VERSION_MIN
    ? null
    : `it is Postgres ${major}, and Postgres ${VERSION_MIN} or newer is needed. Upgrade the server.`;
}

function describeAddress({ target }: DatabaseAddress, sql: postgres.Sql): string {
  const where = "path" in target ? target.path : `${target.host}:${target.port}`;
  return `${where}/${sql.options.database}`;
}
