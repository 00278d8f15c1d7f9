import { GroupCommit, splitSingles } from "../../lib/group_commit.ts";
import type { chargeFields, Outcome } from "../../domain/ledger/item.ts";
import { DELIVERY, type EventItem } from "../../domain/webhooks/enqueue_event.ts";
import type { Database, Queries } from "../../platform/database/database.ts";
import { retryConflicts } from "../../platform/database/retry_conflicts.ts";
import { isLockTimeout, isStorageDown } from "../../platform/database/storage_error.ts";
import type { Queue } from "../../platform/queue/queue.ts";
import type { Usage } from "../../model_types/usage.ts";
import type { EndStatus, TaskOutput, TaskStage } from "./task.ts";

/** An item of `task_finish`. */
export interface TaskEnding {
  readonly id: string;
  /** For the split of a statement that failed. */
  readonly account_id: string;
  /** The claim that may end it; null: any caller, with `is_unsent` while no upstream can have it. */
  readonly fence: string | null;
  readonly is_unsent: boolean;
  readonly status: EndStatus;
  readonly outputs: readonly TaskOutput[];
  readonly units: number;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly stage: string | null;
  readonly stages: readonly TaskStage[] | null;
  readonly usage: Usage | null;
  /** Null releases the whole hold. */
  readonly charge: ReturnType<typeof chargeFields> | null;
  readonly event: EventItem;
}

/** A task that has ended now. The fields of the outcome are those of its hold; a subtask has none. */
export interface EndedTask extends Outcome {
  readonly parent_id: string | null;
  /** Ids of the deliveries of its event. */
  readonly deliveries: readonly string[];
}

/** Null: it had ended before, or the caller may not end it. */
export type TaskEndings = Pick<GroupCommit<TaskEnding, EndedTask | null>, "add">;

const ENDINGS_MAX = 64;

/** Tasks that end at the same moment share a transaction, and each ends whole or not at all. */
export function openTaskEndings({ sql }: Database, queue: Queue): TaskEndings {
  return new GroupCommit({
    run: (endings) =>
      retryConflicts(() =>
        queue.isInPostgres
          ? sql.begin((tx) => endAndEnqueue(tx, queue, endings))
          : endTasks(sql, endings)
      ),
    nameOf: ({ id }) => id,
    split,
    itemsMax: ENDINGS_MAX,
  });
}

/** The ending that made the statement fail is to fail alone: by account, whose wallet may be locked, then by task. */
function split(endings: readonly TaskEnding[], error: unknown): readonly (readonly TaskEnding[])[] {
  if (isStorageDown(error)) return [];
  const accounts = Map.groupBy(endings, ({ account_id }) => account_id);
  if (accounts.size > 1) return [...accounts.values()];
  return isLockTimeout(error) ? [] : splitSingles(endings);
}

async function endAndEnqueue(
  sql: Queries,
  queue: Queue,
  endings: readonly TaskEnding[],
): Promise<(EndedTask | null)[]> {
  const ended = await endTasks(sql, endings);
  const deliveries = ended.flatMap((task) => task?.deliveries ?? []);
  await queue.enqueueInTransaction(sql, deliveries.map((id) => ({ kind: DELIVERY, id })));
  return ended;
}

async function endTasks(
  sql: Queries,
  endings: readonly TaskEnding[],
): Promise<(EndedTask | null)[]> {
  const doc = JSON.stringify(endings.map((ending, n) => ({ n, ...ending })));
  const rows = await sql<EndedTask[]>`select * from task_finish(${doc}::text::json)`;
  const ended = new Array<EndedTask | null>(endings.length).fill(null);
  for (const row of rows) ended[row.n] = row;
  return ended;
}
