import { GroupCommit, splitSingles } from "../../lib/group_commit.ts";
import type { chargeFields, Item, Outcome } from "../../domain/ledger/item.ts";
import type { ResponseRow } from "../../domain/responses/response_store.ts";
import { DELIVERY, type EventItem } from "../../domain/webhooks/enqueue_event.ts";
import type { Database, Queries } from "../../platform/database/database.ts";
import { retryConflicts } from "../../platform/database/retry_conflicts.ts";
import { isLockTimeout, isStorageDown } from "../../platform/database/storage_error.ts";
import type { JobMessage, Queue } from "../../platform/queue/queue.ts";
import type { Usage } from "../../model_types/usage.ts";
import { type EndStatus, TASK, type TaskOutput, type TaskStage } from "./task.ts";

/** A request that is to become a task: the SQL type `new_task`. */
export interface TaskOrder {
  readonly op: "create";
  readonly id: string;
  readonly account_id: string;
  readonly request_id: string;
  readonly client_request_id: string | null;
  readonly key: string | undefined;
  readonly path: string | undefined;
  readonly body_hash: string | undefined;
  readonly type: string;
  readonly model: string;
  readonly job: unknown;
  readonly config_version: string;
  readonly callback_url: string | null;
  readonly stages: readonly TaskStage[] | undefined;
  readonly queue_seconds: number;
  readonly deadline_seconds: number;
  readonly max_active: number;
  /** The trace of the request. */
  readonly traceparent: string | undefined;
  readonly hold: Item;
  /** The background response that the task is to make. */
  readonly response: ResponseRow | undefined;
}

/** A part of a charge, for the operator's margins. */
export interface ReceiptPart {
  readonly stage: string;
  readonly model: string;
  /** provider/model that made it. */
  readonly upstream: string | null;
  readonly amount: string;
  /** What the upstream charges; null where it is not known. */
  readonly cost: string | null;
}

/** The end of a task. */
export interface TaskEnding {
  readonly op: "end";
  readonly id: string;
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
  /** Of a subtask: what its upstream charges; null where that is not known. */
  readonly cost: string | null;
  /** The upstream that answered; null: the one that the task was submitted to. */
  readonly provider: string | null;
  readonly upstream_model: string | null;
  /** Of a drama: what its charge is made of. */
  readonly parts: readonly ReceiptPart[] | null;
  /** Null releases the whole hold. */
  readonly charge: ReturnType<typeof chargeFields> | null;
  readonly event: EventItem;
  /** The body of the response that the task has made; null: it has made none. */
  readonly response: string | null;
}

/** What became of a request. */
export interface OrderedTask {
  readonly outcome:
    | "created"
    | "replayed"
    | "reused"
    | "at_capacity"
    | "insufficient"
    | "over_budget"
    | "unknown"
    | "conflict";
  /** Of a replay: that of the first request. */
  readonly task_id: string | null;
  /** The others are set if it was created. */
  readonly created_at: Date;
  readonly deadline_at: Date;
  readonly held_at: Date;
  readonly allocations: string[];
  readonly held: string[];
  /** With `insufficient`: what is only reserved would be enough, and is free then at the latest. */
  readonly retry_ms?: number | null;
  /** With `over_budget`: what is left of the budget of the key. */
  readonly budget_left?: string | null;
}

/** A task that has ended now, and how its hold was resolved; a subtask has none. */
export interface EndedTask extends Outcome {
  readonly parent_id: string | null;
  /** Ids of the deliveries of its event. */
  readonly deliveries: readonly string[];
}

/** Writes the begin and the end of tasks. */
export interface TaskWrites {
  create(order: Omit<TaskOrder, "op">): Promise<OrderedTask>;
  /** Null: the task had ended before, or the caller may not end it. */
  end(ending: Omit<TaskEnding, "op">): Promise<EndedTask | null>;
}

type TaskWrite = TaskOrder | TaskEnding;
/** A row of `task_write`: which columns are set depends on the operation. */
type WrittenTask = (OrderedTask | EndedTask) & { readonly n: number };

const WRITES_MAX = 128;

/**
 * Tasks that begin and end at the same moment share a transaction, and each is written whole or not at all. Both in
 * one: beside each other they would wait for the same account.
 */
export function openTaskWrites({ sql }: Pick<Database, "sql">, queue: Queue): TaskWrites {
  const group = new GroupCommit<TaskWrite, WrittenTask | null>({
    run: (writes) =>
      retryConflicts(() =>
        queue.isInPostgres
          ? sql.begin((tx) => writeAndEnqueue(tx, queue, writes))
          : writeTasks(sql, writes)
      ),
    nameOf: (write) => {
      if (write.op === "end") return write.id;
      return write.key === undefined ? null : `${write.account_id} ${write.key}`;
    },
    split,
    itemsMax: WRITES_MAX,
  });
  return {
    create: async (order) => await group.add({ op: "create", ...order }) as OrderedTask,
    end: async (ending) => await group.add({ op: "end", ...ending }) as EndedTask | null,
  };
}

/** The write that made the statement fail is to fail alone: by account, whose wallet may be locked, then by task. */
function split(writes: readonly TaskWrite[], error: unknown): readonly (readonly TaskWrite[])[] {
  if (isStorageDown(error)) return [];
  const accounts = Map.groupBy(writes, ({ account_id }) => account_id);
  if (accounts.size > 1) return [...accounts.values()];
  return isLockTimeout(error) ? [] : splitSingles(writes);
}

async function writeAndEnqueue(
  sql: Queries,
  queue: Queue,
  writes: readonly TaskWrite[],
): Promise<(WrittenTask | null)[]> {
  const written = await writeTasks(sql, writes);
  const messages = written.flatMap((task): JobMessage[] => {
    if (task?.outcome === "created") return [{ kind: TASK, id: task.task_id! }];
    const deliveries = task !== null && "deliveries" in task ? task.deliveries : null;
    return (deliveries ?? []).map((id) => ({ kind: DELIVERY, id }));
  });
  await queue.enqueueInTransaction(sql, messages);
  return written;
}

async function writeTasks(
  sql: Queries,
  writes: readonly TaskWrite[],
): Promise<(WrittenTask | null)[]> {
  const numbered = writes.map((write, n) =>
    write.op === "create" ? { n, ...write, hold: { n, ...write.hold } } : { n, ...write }
  );
  const doc = JSON.stringify(Object.groupBy(numbered, ({ op }) => op));
  const rows = await sql<WrittenTask[]>`select * from task_write(${doc}::text::json)`;
  const written = new Array<WrittenTask | null>(writes.length).fill(null);
  for (const row of rows) written[row.n] = row;
  return written;
}
