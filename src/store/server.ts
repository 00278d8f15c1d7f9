import type postgres from "postgres";
import { type Address, parseAddress } from "./address.ts";
import { connect } from "./connect.ts";
import type { Database, OpenOptions } from "./database.ts";
import { ping } from "./ping.ts";
import { isStorageDown, StorageError } from "./storage_error.ts";

const RETRY_MS = 250;
const REPORT_MS = 2_000;

/** Opens the database of `databaseUrl`, waiting for a server that is still starting. */
export async function openServer(
  { databaseUrl, log, waitSeconds = 60, connections = 10 }: OpenOptions & { databaseUrl: string },
): Promise<Database> {
  const address = parseAddress(databaseUrl);
  const sql = connect({ ...address, max: connections });
  const describe = describeAddress(address, sql);
  try {
    await waitUntilReady({ sql, describe, log, waitSeconds });
    const [{ version }] = await sql<[{ version: number }]>`
      select current_setting('server_version_num')::int as version`;
    const fault = versionFault(version);
    if (fault !== null) throw new StorageError(`Cannot use the database ${describe}: ${fault}`);
  } catch (error) {
    await sql.end();
    throw error;
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

/** What is wrong with a server of this `server_version_num`, if anything. */
export function versionFault(version: number): string | null {
  const major = Math.floor(version / 10_000);
  return major >= VERSION_MIN
    ? null
    : `it is Postgres ${major}, and Postgres ${VERSION_MIN} or newer is needed. Upgrade the server.`;
}

function describeAddress({ target }: Address, sql: postgres.Sql): string {
  const where = "path" in target ? target.path : `${target.host}:${target.port}`;
  return `${where}/${sql.options.database}`;
}

interface Waiting {
  sql: postgres.Sql;
  describe: string;
  log: OpenOptions["log"];
  waitSeconds: number;
}

async function waitUntilReady({ sql, describe, log, waitSeconds }: Waiting): Promise<void> {
  const started = performance.now();
  let reportAt = started;
  while (true) {
    const error = await sql`select 1`.then(() => null, (error: Error) => error);
    if (error === null) return;
    const reason = reasonOf(error);
    if (!isStorageDown(error)) {
      throw new StorageError(`Cannot use the database ${describe}: ${reason}.`, { cause: error });
    }
    const now = performance.now();
    const waitedSeconds = Math.round((now - started) / 1000);
    if (now - started >= waitSeconds * 1000) {
      throw new StorageError(
        `Cannot reach the database ${describe} after ${waitedSeconds} s: ${reason}. ` +
          "Check that DATABASE_URL is right and that the server is running.",
        { cause: error },
      );
    }
    if (now >= reportAt) {
      log("waiting for the database", {
        database: describe,
        reason,
        waited_seconds: waitedSeconds,
      });
      reportAt = now + REPORT_MS;
    }
    await new Promise((resume) => setTimeout(resume, RETRY_MS));
  }
}

/** What an operator can act on; everything else in the words of whoever said it. */
function reasonOf(error: Error): string {
  const { code } = error as { code?: string };
  switch (code) {
    case "28P01":
      return "it does not accept the user and password of DATABASE_URL";
    case "28000":
      return `it does not let this user in from here (${error.message}); see its pg_hba.conf`;
    case "3D000":
      return `${error.message}; create it, or correct the name in DATABASE_URL`;
    case "ECONNREFUSED":
      return "nothing listens there";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "no such host is known";
    default:
      return error.message;
  }
}
