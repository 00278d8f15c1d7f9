import type postgres from "postgres";
import type { OpenOptions } from "./database.ts";

const CHECKPOINT_MS = 5 * 60_000;
const CHECKPOINTS_PER_VACUUM = 12;

/**
 * A server has helpers that do this; the embedded database has only us. Without it the log of changes
 * grows until the next restart, and rows that were updated a lot keep their dead versions.
 */
export function maintain(sql: postgres.Sql, log: OpenOptions["log"]): Disposable {
  let rounds = 0;
  const timer = setInterval(async () => {
    try {
      await sql`checkpoint`;
      if (++rounds % CHECKPOINTS_PER_VACUUM === 0) await sql`vacuum (analyze)`;
    } catch (error) {
      log("cannot tidy the embedded database", { error });
    }
  }, CHECKPOINT_MS);
  Deno.unrefTimer(timer);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
