import type postgres from "postgres";
import type { OpenOptions } from "./database.ts";

const CHECKPOINT_MS = 5 * 60_000;
const CHECKPOINTS_PER_VACUUM = 12;

/**
 * A server has background processes for this; the embedded database has none. Without it the WAL
 * grows until the next restart, and dead row versions are never removed.
 */
export function maintain(sql: postgres.Sql, log: OpenOptions["log"]): Disposable {
  let rounds = 0;
  const timer = setInterval(async () => {
    try {
      await sql`checkpoint`;
      if (++rounds % CHECKPOINTS_PER_VACUUM === 0) await sql`vacuum (analyze)`;
    } catch (error) {
      log("embedded database maintenance failed", { error });
    }
  }, CHECKPOINT_MS);
  Deno.unrefTimer(timer);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
