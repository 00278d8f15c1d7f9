import { GroupCommit, splitSingles } from "../../lib/group_commit.ts";
import type { AttemptRow } from "../../domain/requests/request_row.ts";
import type { Queries } from "../../platform/database/database.ts";
import { retryConflicts } from "../../platform/database/retry_conflicts.ts";
import { isStorageDown } from "../../platform/database/storage_error.ts";
import type { ClaimedRow, StoredOutput } from "./task.ts";

/** What a step records about its task, and the fields of `task_change` for it. */
export interface ChangeFields {
  renew: Record<never, never>;
  submitting: { provider: string; upstream_model: string };
  /** `last_failure`: what became of the call before. */
  calling: { provider: string; upstream_model: string; last_failure: string | null };
  called: { attempts: readonly AttemptRow[] };
  /** Without a delay the step goes on and keeps its lease. */
  accepted: { upstream_id: string; delay_ms?: number; progress?: number | null };
  result: { result: unknown };
  output: { output: StoredOutput };
  wait: { delay_ms: number; progress: number | null; polls: number };
  unclear: { last_failure: string; delay_ms: number };
  unsent: {
    tried: readonly string[];
    last_failure: string | null;
    delay_ms: number;
    polls: number;
  };
  cancel_sent: Record<never, never>;
  download_failed: { last_failure: string; delay_ms: number };
  /** Without a delay it is not repeated. */
  failure: { last_failure: string; delay_ms: number | null };
}

export type ChangeKind = keyof ChangeFields;

/** A claim, or a change by the step that has claimed the task. */
export interface TaskChange {
  readonly kind: ChangeKind | "claim";
  readonly id: string;
  readonly fence?: string;
}

export interface ChangedTask {
  /** A cancellation was requested meanwhile: the task is due at once. */
  readonly is_asked: boolean;
  /** Of a claim. */
  readonly claimed: ClaimedRow | null;
}

/** Null: the task has ended, or another process has claimed it. Of a claim also: it is not due. */
export type TaskChanges = Pick<GroupCommit<TaskChange, ChangedTask | null>, "add">;

/** After this time without renewal another process may claim a task. */
const LEASE = "15 seconds";
/** A notification may be slightly ahead of the database's clock. */
const EARLY = "50 milliseconds";
const CHANGES_MAX = 128;

/** Claims and changes of the same moment share a statement; each is durable when its result is returned. */
export function openTaskChanges(sql: Queries): TaskChanges {
  return new GroupCommit({
    run: (changes) => retryConflicts(() => runChanges(sql, changes)),
    // A second change of one task waits for the next statement.
    nameOf: ({ id }) => id,
    split: (changes, error) => isStorageDown(error) ? [] : splitSingles(changes),
    itemsMax: CHANGES_MAX,
  });
}

async function runChanges(
  sql: Queries,
  changes: readonly TaskChange[],
): Promise<(ChangedTask | null)[]> {
  const numbered = changes.map((change, n) => ({ n, ...change }));
  const doc = JSON.stringify(Object.groupBy(numbered, ({ kind }) => kind));
  const rows = await sql<(ChangedTask & { n: number })[]>`
    select * from task_change(${doc}::text::json, ${LEASE}::interval, ${EARLY}::interval)`;
  const answers = new Array<ChangedTask | null>(changes.length).fill(null);
  for (const { n, ...answer } of rows) answers[n] = answer;
  return answers;
}
