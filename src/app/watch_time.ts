import { type ClockWatchOptions, watchClock } from "../lib/watch_clock.ts";
import type { Database, Queries } from "../platform/database/database.ts";
import type { Log } from "../platform/telemetry/log.ts";

/** Less is a correction, as time servers make them, and not worth a word. */
const JUMP_MS = 10_000;

export type TimeOptions = Pick<ClockWatchOptions, "wall" | "everyMs">;

/**
 * Warns when the system clock jumps. The embedded database has a clock of its own, which follows here: what
 * is a span of time and stands in the database as a moment (leases, deadlines, next looks) is moved along,
 * so that nothing ends early and nothing waits for hours that the clock was set back by.
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
        log.error("cannot move deadlines to the new time", { seconds: ms / 1000, error });
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

/** In the order in which nothing looks overdue in between. */
async function follow({ sql, moveClock }: Database, ms: number): Promise<void> {
  if (ms < 0) moveClock!(ms);
  try {
    await moveSpans(sql, ms);
  } finally {
    if (ms > 0) moveClock!(ms);
  }
}

async function moveSpans(sql: Queries, ms: number): Promise<void> {
  const by = sql`${ms} * interval '1 millisecond'`;
  await sql`
    with tasks as (
      update task set wake_at = wake_at + ${by}, lease_until = lease_until + ${by},
                      deadline_at = deadline_at + ${by}, submitted_at = submitted_at + ${by}
       where completed_at is null),
    holds as (
      update hold set expires_at = expires_at + ${by} where state = 'open')
    update webhook_delivery set wake_at = wake_at + ${by}, lease_until = lease_until + ${by}
     where state = 'pending'`;
}
