import type postgres from "postgres";
import type { OpenOptions } from "./database.ts";
import { periodic } from "../../lib/timers.ts";

const CHECKPOINT_MS = 5 * 60_000;
const CHECKPOINTS_PER_VACUUM = 12;

/**
 * A server has background processes for this; the embedded database has none. Without it the WAL
 * grows until the next restart, and dead row versions are never removed.
 */
export function maintain(sql: postgres.Sql, log: OpenOptions["log"]): Disposable {
  let rounds = 0;
  return periodic(async () => {
    await sql`checkpoint`;
    if (++rounds % CHECKPOINTS_PER_VACUUM === 0) await sql`vacuum (analyze)`;
  }, {
    intervalMs: CHECKPOINT_MS,
    onError: (error) => log.info("embedded database maintenance failed", { error }),
  });
}
