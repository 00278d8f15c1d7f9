import { GroupCommit, splitSingles } from "../../lib/group_commit.ts";
import { newId } from "../../lib/ids.ts";
import type { ModelType } from "../../model_types/model_types.ts";
import { ApiError } from "../../lib/api_error.ts";
import { type IdempotencyIdentity, keyReused } from "../../domain/idempotency/key.ts";
import { holdItem } from "../../domain/ledger/hold.ts";
import { ReservedRetry } from "../../domain/ledger/retry_reserved.ts";
import { type Currency, insufficientBalance } from "../../domain/ledger/insufficient.ts";
import type { Quote } from "../../domain/pricing/quote.ts";
import { snapshotOf } from "../../domain/pricing/snapshot.ts";
import type { Queue } from "../../platform/queue/queue.ts";
import type { Database, Queries } from "../../platform/database/database.ts";
import { isStorageDown } from "../../platform/database/storage_error.ts";
import { findTask } from "./find_task.ts";
import { TASK, type TaskRow, type TaskStage } from "./task.ts";

/** A request that was checked and priced, and is to become a task. */
export interface NewTask {
  account: string;
  requestId: string;
  clientRequestId: string | null;
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

interface Answer {
  n: number;
  outcome:
    | "created"
    | "replayed"
    | "reused"
    | "at_capacity"
    | "insufficient"
    | "unknown"
    | "conflict";
  task_id: string | null;
  created_at: Date;
  deadline_at: Date;
  held_at: Date;
  allocations: string[];
  held: string[];
  retry_ms: number | null;
}

interface Order extends NewTask {
  id: string;
}

/**
 * A task's money has no time limit of its own: the task has one, every state of it, and takes the hold
 * along in the transaction that ends it. A hold that expired sooner would leave a task that cannot be charged.
 */
const HOLD_SECONDS = 10 * 365 * 86_400;
const ORDERS_MAX = 128;
const CROWDED_RETRY_SECONDS = 5;
/** Postgres ended one of two calls that met: the same again will do. */
const TRY_AGAIN = new Set(["40001", "40P01"]);
const TRIES_MAX = 4;

/** Accepts requests. Those of one moment share a transaction, and each is written whole or not at all. */
export class TaskCreation {
  readonly #orders: GroupCommit<Order, Answer>;
  readonly #reservedRetry: ReservedRetry;

  constructor(
    private readonly database: Database,
    private readonly queue: Queue,
    private readonly money: () => Currency,
    /** Makes sure that the configuration of a task is stored before the task is. */
    private readonly storeConfig: (version: string) => Promise<void> = () => Promise.resolve(),
  ) {
    this.#reservedRetry = new ReservedRetry(database.sql);
    this.#orders = new GroupCommit({
      run: (orders) => this.#write(orders),
      nameOf: ({ account, identity }) => identity === null ? null : `${account} ${identity.key}`,
      split: (orders, error) => isStorageDown(error) ? [] : splitSingles(orders),
      itemsMax: ORDERS_MAX,
    });
  }

  /** Refuses with `idempotency_key_reused`, `concurrency_limit_exceeded` or `insufficient_balance`. */
  async create(task: NewTask): Promise<CreatedTask> {
    const order: Order = { ...task, id: newId("task") };
    await this.storeConfig(task.configVersion);
    const answer = await this.#reservedRetry.run(task.account, () => this.#orders.add(order));
    switch (answer.outcome) {
      case "created":
        this.queue.notify({ kind: TASK, id: order.id });
        return { row: rowOf(order, answer), isReplay: false };
      case "replayed": {
        const row = await findTask(this.database.sql, task.account, answer.task_id!);
        if (row === null) throw new Error(`The task ${answer.task_id} of a key is gone`);
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
        throw insufficientBalance(task.quote, this.money());
      default:
        throw new Error(`Cannot hold for ${order.id}: ${answer.outcome}`);
    }
  }

  async #write(orders: readonly Order[]): Promise<Answer[]> {
    for (let tries = 1;; tries++) {
      try {
        const answers = this.queue.isInPostgres
          ? await this.database.sql.begin((sql) => this.#writeAndEnqueue(sql, orders))
          : await write(this.database.sql, orders, this.money().currencyScale);
        return answers.sort((a, b) => a.n - b.n);
      } catch (error) {
        const { code } = error as { code?: string };
        if (tries === TRIES_MAX || !TRY_AGAIN.has(String(code))) throw error;
      }
    }
  }

  async #writeAndEnqueue(sql: Queries, orders: readonly Order[]): Promise<Answer[]> {
    const answers = await write(sql, orders, this.money().currencyScale);
    for (const { outcome, task_id: id } of answers) {
      if (outcome === "created") {
        await this.queue.enqueueInTransaction(sql, { kind: TASK, id: id! });
      }
    }
    return answers;
  }
}

async function write(sql: Queries, orders: readonly Order[], scale: number): Promise<Answer[]> {
  const doc = JSON.stringify(orders.map((order, n) => ({
    n,
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
    hold: { n, ...holdOf(order, scale) },
  })));
  return [
    ...await sql<Answer[]>`select * from task_create(${doc}::text::json)`,
  ];
}

function holdOf(order: Order, scale: number) {
  return holdItem({
    id: order.requestId,
    account: order.account,
    quote: order.quote,
    clientRequestId: order.clientRequestId ?? undefined,
    ttlSeconds: HOLD_SECONDS,
  }, scale);
}

/** What a look at the row would show, without one. */
function rowOf(
  order: Order,
  { created_at, deadline_at, allocations, held, held_at }: Answer,
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
  };
}
