import type postgres from "postgres";
import { ConnectionError } from "./storage_error.ts";
import { withTimeout } from "../../lib/timers.ts";

const PATIENCE_MS = 2_000;

/** A server that hangs without closing the connection would keep a plain query waiting for minutes. */
export async function ping(sql: postgres.Sql): Promise<void> {
  await withTimeout(sql`select 1`, PATIENCE_MS, () => {
    throw new ConnectionError("CONNECT_TIMEOUT", "The database does not answer");
  });
}
