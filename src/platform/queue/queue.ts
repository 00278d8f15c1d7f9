import type { Queries } from "../database/database.ts";

/**
 * What is to be done, by name only: the truth is a row in Postgres whose `wake_at` says when. A message
 * that is lost costs a moment, one that comes twice costs a look.
 */
export interface JobMessage {
  readonly kind: string;
  readonly id: string;
}

/** What a step says at its end: nothing more to do, or look again in so many milliseconds. */
export type NextStep = "done" | { readonly againInMs: number };

/** Does the steps of one kind. */
export interface JobHandler {
  /** How many of its steps this process runs at once. */
  readonly slots: number;
  /** Claims the row, does one thing, says what next. Repeating it is harmless. */
  /** `leaveSlot`: the rest of the step has limits of its own, and another step may have its slot. */
  step(id: string, signal: AbortSignal, leaveSlot?: () => void): Promise<NextStep>;
  /** Ids of rows whose `wake_at` has passed, oldest first: what the sweeper rings. */
  due(limit: number): Promise<readonly string[]>;
}

/** Wakes workers. Postgres remembers; the queue only rings the bell. */
export interface Queue extends AsyncDisposable {
  /** Whether `enlist` writes: then work is made in a transaction, and its job with it. */
  readonly isInPostgres: boolean;
  /** Inside the transaction that makes the work: a queue that lives in Postgres adds its job here. */
  enqueueInTransaction(sql: Queries, message: JobMessage, delayMs?: number): Promise<void>;
  /** After that transaction: a queue beside Postgres rings here. Never throws; the sweeper makes good. */
  notify(message: JobMessage, delayMs?: number): void;
  /** Starts the one listener and the sweeper. Disposing waits for the steps that run. */
  start(handlers: ReadonlyMap<string, JobHandler>): void;
  /** Does what is due, until nothing is or for so long: for a process that is woken for just that. */
  catchUp(patienceMs: number): Promise<void>;
  /** What waits and runs in this process, for metrics. */
  depth(): readonly { kind: string; waiting: number; running: number }[];
  /** Why it cannot work now; null when it can. */
  problem(): Promise<string | null>;
}
