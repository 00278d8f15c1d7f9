import type { TaskDeps } from "./deps.ts";
import { findTask, taskNotFound } from "./find_task.ts";
import { isOver, type TaskRow } from "./task.ts";

/** Silence after which a sign of life is due. */
const QUIET_MS = 15_000;

/** The task when it is over, or as it stands after so many milliseconds. */
export async function awaitTask(
  { watch }: Pick<TaskDeps, "watch">,
  row: TaskRow,
  ms: number,
  signal: AbortSignal,
): Promise<TaskRow> {
  const until = performance.now() + ms;
  let seen = row;
  while (!isOver(seen.status)) {
    const left = until - performance.now();
    if (left <= 0 || signal.aborted) return seen;
    seen = await watch.next(seen, left, signal) ?? seen;
  }
  return seen;
}

/** The task now and after every change, until it is over; null is a sign of life. */
export async function* followTask(
  { database, watch }: Pick<TaskDeps, "database" | "watch">,
  account: string,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<TaskRow | null> {
  const found = await findTask(database.sql, account, id);
  if (found === null) throw taskNotFound();
  yield found;
  let shown = found;
  while (!isOver(shown.status) && !signal.aborted) {
    const changed = await watch.next(shown, QUIET_MS, signal);
    if (changed !== null) shown = changed;
    else if (signal.aborted) return;
    yield changed;
  }
}
