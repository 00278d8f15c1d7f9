import { type ClockWatchOptions, watchClock } from "../lib/watch_clock.ts";
import type { Database, Queries } from "../platform/database/database.ts";
import type { Log } from "../platform/telemetry/log.ts";

/** Smaller moves are corrections by a time server, not worth a warning. */
const JUMP_MS = 10_000;

export type TimeOptions = Pick<ClockWatchOptions, "wall" | "everyMs">;

/**
 * Warns when the system clock jumps. The embedded database has a clock of its own, which is moved along, and with it
 * the times in the database that stand for a duration (leases, deadlines, next polls): nothing expires early, and
 * nothing waits for the hours that the clock was set back by.
 */
export function watchTime(
  database: Database,
  log: Log,
  options: TimeOptions = {},
): AsyncDisposable {
  let following: Promise<void> = Promise.resolve();
  const watch = watchClock({
    ...options,
    onMoved(ms) {
      if (Math.abs(ms) >= JUMP_MS) log.warn("system clock jumped", { seconds: ms / 1000 });
      if (database.moveClock === undefined) return;
      following = following.then(() => follow(database, ms)).catch((error) => {
        log.error("deadlines not moved after a clock jump", { seconds: ms / 1000, error });
      });
    },
  });
  return {
    async [Symbol.asyncDispose]() {
      watch[Symbol.dispose]();
      await following;
    },
  };
}

/** In the order in which nothing is overdue in between. */
async function follow({ sql, moveClock }: Database, ms: number): Promise<void> {
  if (ms < 0) moveClock!(ms);
  try {
    await moveDeadlines(sql, ms);
  } finally {
    if (ms > 0) moveClock!(ms);
  }
}

async function moveDeadlines(sql: Queries, ms: number): Promise<void> {
  const by = sql`${ms} * interval '1 millisecond'`;
  await sql`
    with tasks as (
      update task set wake_at = wake_at + ${by}, lease_until = lease_until + ${by},
                      deadline_at = deadline_at + ${by}, submitted_at = submitted_at + ${by}
       where completed_at is null),
    holds as (
      update hold set expires_at = expires_at + ${by})
    update webhook_delivery set wake_at = wake_at + ${by}, lease_until = lease_until + ${by}
     where state = 'pending'`;
}
