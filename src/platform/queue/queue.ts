import type { Queries } from "../database/database.ts";

/**
 * Names a row in Postgres that has work to do; the row's `wake_at` says when. A message that is lost delays the
 * work until the sweeper finds it, one that comes twice costs a query.
 */
export interface JobMessage {
  readonly kind: string;
  readonly id: string;
}

/** The result of a step: nothing more to do, or run again in so many milliseconds. */
export type NextStep = "done" | { readonly againInMs: number };

/** Runs the steps of one kind of job. */
export interface JobHandler {
  /** How many of its steps this process runs at once. */
  readonly slots: number;
  /**
   * Claims the row, does one thing, and returns what is next. Repeating it is harmless. After `leaveSlot` the rest
   * of the step has limits of its own, and another step may use its slot.
   */
  step(id: string, signal: AbortSignal, leaveSlot?: () => void): Promise<NextStep>;
  /** Ids of rows whose `wake_at` has passed, oldest first: for the sweeper. */
  due(limit: number): Promise<readonly string[]>;
}

/** Wakes workers. Postgres holds the work; the queue only notifies. */
export interface Queue extends AsyncDisposable {
  /** Whether `enqueueInTransaction` writes: then work is created in a transaction, and its job with it. */
  readonly isInPostgres: boolean;
  /** Inside the transaction that creates the work: a queue in Postgres adds its jobs here. */
  enqueueInTransaction(sql: Queries, messages: readonly JobMessage[]): Promise<void>;
  /** After that transaction: a queue outside Postgres is notified here. Never throws; the sweeper finds what is lost. */
  notify(message: JobMessage, delayMs?: number): void;
  /** Starts the listener and the sweeper. Disposing waits for the steps that run. */
  start(handlers: ReadonlyMap<string, JobHandler>): void;
  /** Runs due jobs until there are none, for `maxMs` at most: for a process that is woken for just that. */
  catchUp(maxMs: number): Promise<void>;
  /** What waits and runs in this process, for metrics. */
  depth(): readonly { kind: string; waiting: number; running: number }[];
  /** Why the queue cannot work now; null when it can. */
  problem(): Promise<string | null>;
}
