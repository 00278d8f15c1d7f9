import type { TaskDeps } from "./deps.ts";
import { findTask, lookAtTask, taskNotFound } from "./find_task.ts";
import { isOver, type TaskRow } from "./task.ts";

/** How long a change made by another node stays unseen. */
const LOOK_MS = 1_000;
/** Silence after which a sign of life is due. */
const QUIET_MS = 15_000;

/** The task when it is over, or as it stands after so many milliseconds. */
export async function awaitTask(
  deps: TaskDeps,
  row: TaskRow,
  ms: number,
  signal: AbortSignal,
): Promise<TaskRow> {
  const until = performance.now() + ms;
  let seen = row;
  while (!isOver(seen.status)) {
    const left = until - performance.now();
    if (left <= 0 || signal.aborted) return seen;
    await deps.watch.next(row.id, Math.min(left, LOOK_MS), signal);
    seen = await findTask(deps.database.sql, row.account_id, row.id) ?? seen;
  }
  return seen;
}

/** The task now and after every change, until it is over; null is a sign of life. */
export async function* followTask(
  deps: TaskDeps,
  account: string,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<TaskRow | null> {
  const { sql } = deps.database;
  const find = async () => {
    const row = await findTask(sql, account, id);
    if (row === null) throw taskNotFound();
    return row;
  };
  let shown = await find();
  yield shown;
  let quietSince = performance.now();
  while (!isOver(shown.status) && !signal.aborted) {
    await deps.watch.next(id, LOOK_MS, signal);
    const look = await lookAtTask(sql, id);
    if (look !== null && look.updated_at.getTime() !== shown.updated_at.getTime()) {
      shown = await find();
      quietSince = performance.now();
      yield shown;
    } else if (performance.now() - quietSince >= QUIET_MS) {
      quietSince = performance.now();
      yield null;
    }
  }
}
