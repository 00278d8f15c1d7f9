import type { PlanKeeper } from "./config/keeper.ts";
import type { Check } from "./http/health.ts";
import type { Queue } from "./queue/queue.ts";
import { type Changes, isBehind } from "./store/changes.ts";
import type { Database } from "./store/database.ts";

const PING_MS = 2_000;

export async function checkDatabase(database: Database | null): Promise<Check> {
  if (database === null) return { ok: false, reason: "the database is not open yet" };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer")), PING_MS);
  });
  try {
    await Promise.race([database.ping(), late]);
    return { ok: true, kind: database.kind };
  } catch {
    // The reason is in the log; this page is public.
    return { ok: false, reason: "the database does not answer" };
  } finally {
    clearTimeout(timer);
  }
}

export async function checkQueue(queue: Queue | null): Promise<Check> {
  const reason = queue === null ? "the queue is not open yet" : await queue.ailment();
  return reason === null ? { ok: true } : { ok: false, reason };
}

/** A bad file leaves the old declaration in force, so the node stays ready and says so. */
export function checkConfig(keeper: PlanKeeper, changes: Changes | null): Check {
  const { at, ok, faults } = keeper.lastReload;
  const errors = faults.filter(({ severity }) => severity === "error").length;
  return {
    ok: true,
    version: keeper.current.version,
    last_reload: { at, ok, faults: errors },
    ...(changes !== null && isBehind(changes.peers)
      ? { notice: "other nodes run a newer declaration" }
      : {}),
  };
}
