import type postgres from "postgres";
import { ConnectionError } from "./storage_error.ts";

const PATIENCE_MS = 2_000;

/** A server that hangs without closing the connection would keep a plain query waiting for minutes. */
export async function ping(sql: postgres.Sql): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new ConnectionError("CONNECT_TIMEOUT", "The database does not answer"));
    }, PATIENCE_MS);
  });
  try {
    await Promise.race([sql`select 1`, late]);
  } finally {
    clearTimeout(timer);
  }
}
