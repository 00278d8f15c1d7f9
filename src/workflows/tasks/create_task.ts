import { newId } from "../../lib/ids.ts";
import { decimal } from "../../lib/money.ts";
import type { ModelType } from "../../model_types/model_types.ts";
import { ApiError } from "../../lib/api_error.ts";
import { type IdempotencyIdentity, keyReused } from "../../domain/idempotency/key.ts";
import { holdItem } from "../../domain/ledger/hold.ts";
import { ReservedRetry } from "../../domain/ledger/retry_reserved.ts";
import {
  type Currency,
  insufficientBalance,
  KeyBudgetExceeded,
} from "../../domain/ledger/insufficient.ts";
import type { RequestOrigin } from "../../domain/ledger/request_origin.ts";
import type { ResponseRow } from "../../domain/responses/response_store.ts";
import type { Quote } from "../../domain/pricing/quote.ts";
import { snapshotOf } from "../../domain/pricing/snapshot.ts";
import type { Queue } from "../../platform/queue/queue.ts";
import { traced } from "../../platform/tracing/traced.ts";
import type { Database } from "../../platform/database/database.ts";
import { findTask } from "./find_task.ts";
import { TASK, type TaskRow, type TaskStage } from "./task.ts";
import type { OrderedTask, TaskOrder, TaskWrites } from "./task_writes.ts";

/** A request that was checked and priced, and is to become a task. */
export interface NewTask {
  account: string;
  requestId: string;
  clientRequestId: string | null;
  origin: RequestOrigin;
  /** What finds it again when the request comes twice. */
  identity: IdempotencyIdentity | null;
  type: ModelType;
  model: string;
  /** A `TaskJob`, unless the type has a handler of its own. */
  job: unknown;
  quote: Quote;
  /** Version of the configuration it was accepted under. */
  configVersion: string;
  callbackUrl: string | null;
  /** Of a pipeline. */
  stages?: readonly TaskStage[];
  /** The background response that it is to make. */
  response?: ResponseRow;
  /** How long it may wait for an upstream, and then take. */
  queueSeconds: number;
  deadlineSeconds: number;
  /** Active tasks that the account may have. */
  maxActive: number;
}

export interface CreatedTask {
  row: TaskRow;
  /** The request came before: this is what it made then. */
  isReplay: boolean;
}

interface Order extends NewTask {
  id: string;
}

/**
 * A task's money has no time limit of its own: the task has one, every state of it, and takes the hold
 * along in the transaction that ends it. A hold that expired sooner would leave a task that cannot be charged.
 */
const HOLD_SECONDS = 10 * 365 * 86_400;
const CROWDED_RETRY_SECONDS = 5;

export interface TaskCreationOptions {
  database: Pick<Database, "sql">;
  queue: Pick<Queue, "notify">;
  writes: TaskWrites;
  money: () => Currency;
  /** Makes sure that the configuration of a task is stored before the task is. */
  storeConfig?: (version: string) => Promise<void>;
}

/** Accepts requests as tasks. */
export class TaskCreation {
  readonly #reservedRetry: ReservedRetry;

  constructor(private readonly options: TaskCreationOptions) {
    this.#reservedRetry = new ReservedRetry(options.database.sql);
  }

  /**
   * Refuses with `idempotency_key_reused`, `concurrency_limit_exceeded`, `insufficient_balance` or
   * `key_budget_exceeded`.
   */
  async create(task: NewTask): Promise<CreatedTask> {
    const { database, queue, writes, money, storeConfig } = this.options;
    const order: Order = { ...task, id: newId("task") };
    await storeConfig?.(task.configVersion);
    const hold = () => writes.create(orderOf(order, money().currencyScale));
    const written = await traced(
      task.origin.span ?? null,
      "hold",
      () => this.#reservedRetry.run(task.account, hold),
      { "tollgate.task.id": order.id },
    );
    switch (written.outcome) {
      case "created":
        queue.notify({ kind: TASK, id: order.id });
        return { row: rowOf(order, written), isReplay: false };
      case "replayed": {
        const row = await findTask(database.sql, task.account, written.task_id!);
        if (row === null) throw new Error(`The task ${written.task_id} of a key is gone`);
        return { row, isReplay: true };
      }
      case "reused":
        throw keyReused(task.identity!);
      case "at_capacity":
        throw new ApiError(
          "concurrency_limit_exceeded",
          `Too many tasks at once: this account may have ${task.maxActive} that are not over.`,
          { retryAfterSeconds: CROWDED_RETRY_SECONDS },
        );
      case "insufficient":
        throw insufficientBalance(task.quote, money());
      case "over_budget":
        throw new KeyBudgetExceeded(task.quote, money(), decimal(written.budget_left!));
      default:
        throw new Error(`Cannot hold for ${order.id}: ${written.outcome}`);
    }
  }
}

function orderOf(order: Order, scale: number): Omit<TaskOrder, "op"> {
  return {
    id: order.id,
    account_id: order.account,
    request_id: order.requestId,
    client_request_id: order.clientRequestId,
    key: order.identity?.key,
    path: order.identity?.path,
    body_hash: order.identity?.bodyHash,
    type: order.type,
    model: order.model,
    job: order.job,
    config_version: order.configVersion,
    callback_url: order.callbackUrl,
    stages: order.stages,
    queue_seconds: order.queueSeconds,
    deadline_seconds: order.deadlineSeconds,
    max_active: order.maxActive,
    traceparent: order.origin.span?.traceparent,
    hold: holdOf(order, scale),
    response: order.response,
  };
}

function holdOf(order: Order, scale: number) {
  return holdItem({
    id: order.requestId,
    account: order.account,
    quote: order.quote,
    clientRequestId: order.clientRequestId ?? undefined,
    origin: order.origin,
    ttlSeconds: HOLD_SECONDS,
  }, scale);
}

/** What a look at the row would show, without one. */
function rowOf(
  order: Order,
  { created_at, deadline_at, allocations, held, held_at }: OrderedTask,
): TaskRow {
  return {
    id: order.id,
    account_id: order.account,
    request_id: order.requestId,
    client_request_id: order.clientRequestId,
    type: order.type,
    model: order.model,
    status: "queued",
    progress: 0,
    created_at,
    updated_at: created_at,
    started_at: null,
    completed_at: null,
    deadline_at,
    outputs: [],
    units: "0",
    error_code: null,
    error_message: null,
    stage: null,
    stages: order.stages ?? null,
    hold_state: "open",
    allocations,
    held,
    taken: null,
    shortfall: null,
    usage: null,
    price: snapshotOf(order.quote.price),
    held_at,
    resolved_at: null,
    key_id: order.origin.key,
    end_user: order.origin.user,
    metadata: order.origin.metadata,
    endpoint: order.origin.endpoint ?? null,
  };
}
