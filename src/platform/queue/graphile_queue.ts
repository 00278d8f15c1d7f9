import { EventEmitter } from "node:events";
import { Logger, runMigrations, runTaskList, type WorkerPool } from "graphile-worker";
import type postgres from "postgres";
import type { Queries } from "../database/database.ts";
import { ConnectionError, isStorageDown } from "../database/storage_error.ts";
import { openPgPool } from "./pg_pool.ts";
import type { JobHandler, JobMessage, Queue } from "./queue.ts";
import { Runner, type RunnerOptions } from "./runner.ts";
import { periodic, withTimeout } from "../../lib/timers.ts";
import type { Log } from "../telemetry/log.ts";

export interface GraphileQueueOptions {
  sql: postgres.Sql;
  databaseUrl: string;
  onStep?: RunnerOptions["onStep"];
  log: Pick<Log, "info" | "warn" | "error">;
  /** How often jobs are removed that no worker will take. */
  removeEveryMs?: number;
}

/** How often delayed jobs are looked for; what is due sooner waits in this process. */
const POLL_MS = 2_000;
/** For each kind of job: one listens, the others fetch and complete. */
const CONNECTIONS = 3;
/** Workers that have not ended by then are abandoned. */
const END_MS = 5_000;
const RESTART_MS = 1_000;
const ENQUEUED_MAX = 10_000;
const REMOVE_EVERY_MS = 10 * 60_000;
const REMOVE_MAX = 1_000;
const LOCK = 7_014_255_484;

/**
 * Notifications are jobs of graphile-worker in Postgres, for any number of nodes: a job is written in the
 * transaction that creates the work, NOTIFY wakes a worker with a free slot, and jobs of one row collapse to one.
 * The sweeper finds what a node had taken that died, as with every driver.
 */
export class GraphileQueue implements Queue {
  readonly isInPostgres = true;
  readonly #options: GraphileQueueOptions;
  /** Enqueued in the transaction of their work already: they need no second job. */
  readonly #enqueued = new Set<string>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  readonly #groups = new Map<string, WorkerGroup>();
  #pending = new Map<string, { message: JobMessage; delayMs: number }>();
  #adding: Promise<void> | null = null;
  #removing: AsyncDisposable | null = null;
  #runner: Runner | null = null;
  #isClosing = false;
  #isClosed = false;
  #closed: Promise<void> | null = null;

  constructor(options: GraphileQueueOptions) {
    this.#options = options;
  }

  async enqueueInTransaction(sql: Queries, messages: readonly JobMessage[]): Promise<void> {
    if (messages.length === 0) return;
    await addJobs(sql, messages.map((message) => ({ message, delayMs: 0 })));
    if (this.#enqueued.size >= ENQUEUED_MAX) this.#enqueued.clear();
    for (const message of messages) this.#enqueued.add(keyOf(message));
  }

  notify(message: JobMessage, delayMs = 0): void {
    if (this.#isClosed) return;
    const key = keyOf(message);
    if (delayMs <= 0 && this.#enqueued.delete(key)) return;
    if (delayMs > 0 && delayMs <= POLL_MS && this.#runner !== null) {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.#runner?.offer(message);
      }, delayMs);
      this.#timers.add(timer);
      return;
    }
    this.#pending.set(key, { message, delayMs: Math.max(0, delayMs) });
    this.#adding ??= this.#add();
  }

  start(handlers: ReadonlyMap<string, JobHandler>): void {
    const { onStep, log } = this.#options;
    this.#runner = new Runner({
      handlers,
      requeue: (message, delayMs) => this.notify(message, delayMs),
      log,
      ...(onStep === undefined ? {} : { onStep }),
    });
    for (const [kind, { slots }] of handlers) this.#listen(kind, slots, this.#runner);
    const kinds = [...handlers.keys()];
    this.#removing = periodic(() => this.#removeDead(kinds), {
      intervalMs: this.#options.removeEveryMs ?? REMOVE_EVERY_MS,
      startsAtOnce: true,
      onError: (error) => {
        if (!isStorageDown(error)) {
          this.#options.log.error("removal of dead jobs failed", { error });
        }
      },
    });
  }

  /**
   * graphile-worker gives a job that is added again while it is locked its last attempt, and replaces it. If its
   * node then dies, no worker takes or removes it. Jobs only wake workers: the sweeper finds due rows without them.
   */
  async #removeDead(kinds: readonly string[]): Promise<void> {
    const removed = await removeDeadJobs(this.#options.sql, kinds);
    if (removed > 0) this.#options.log.info("jobs of dead workers removed", { jobs: removed });
  }

  async catchUp(maxMs: number): Promise<void> {
    await this.#runner?.catchUp(maxMs);
  }

  depth(): ReturnType<Runner["depth"]> {
    return this.#runner?.depth() ?? [];
  }

  problem(): Promise<string | null> {
    return Promise.resolve(this.#runner?.problem() ?? null);
  }

  /** One statement at a time; messages that come meanwhile share the next one. */
  async #add(): Promise<void> {
    await Promise.resolve();
    while (this.#pending.size > 0) {
      const jobs = [...this.#pending.values()];
      this.#pending = new Map();
      try {
        await addJobs(this.#options.sql, jobs);
      } catch (error) {
        // The sweeper finds their rows.
        if (!isStorageDown(error)) this.#options.log.error("adding jobs failed", { error });
      }
    }
    this.#adding = null;
  }

  /** Each kind has workers of its own: slow webhook receivers delay no task. */
  #listen(kind: string, slots: number, runner: Runner): void {
    const pool = openPgPool(this.#options.databaseUrl, CONNECTIONS);
    const events = new EventEmitter();
    const workers = runTaskList(
      {
        events,
        concurrency: slots,
        noHandleSignals: true,
        pollInterval: POLL_MS,
        logger: new Logger(() => (level, message) => {
          if (level === "error" || level === "warning") {
            this.#options.log.warn("queue worker warning", { kind, reason: message });
          }
        }),
        preset: {
          worker: {
            localQueue: { size: slots, ttl: 2 * POLL_MS },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
            // The runner stops steps, not graphile-worker, whose timer is never cleared.
            gracefulShutdownAbortTimeout: 1,
          },
        },
      },
      { [kind]: (payload) => runner.perform({ kind, id: (payload as { id: string }).id }) },
      pool,
    );
    let ending: Promise<void> | undefined;
    const group: WorkerGroup = { workers, endPool: () => ending ??= pool.end() };
    this.#groups.set(kind, group);
    workers.promise.catch(() => {}); // reported by the logger
    // Workers that lost the database while they finished a job give up, and their promise may never settle: a new
    // group takes over, with connections of its own.
    events.once("pool:gracefulShutdown", () => {
      if (this.#isClosing || this.#groups.get(kind) !== group) return;
      void group.endPool();
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        if (!this.#isClosing) this.#listen(kind, slots, runner);
      }, RESTART_MS);
      this.#timers.add(timer);
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#closed ??= this.#close();
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    const ending = [...this.#groups.values()].map(async ({ workers, endPool }) => {
      // Rejects when a worker lost its connection; the sweeper of another node finds its job.
      await Promise.resolve(workers.gracefulShutdown()).catch(() => {});
      await endPool();
    });
    await this.#runner?.[Symbol.asyncDispose]();
    await this.#removing?.[Symbol.asyncDispose]();
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#adding;
    await withTimeout(Promise.all(ending), END_MS, () => undefined);
  }
}

/** The workers of one kind of job. */
interface WorkerGroup {
  readonly workers: WorkerPool;
  /** Closes the connections. Harmless to repeat. */
  endPool(): Promise<void>;
}

function keyOf({ kind, id }: JobMessage): string {
  return `${kind}:${id}`;
}

interface Job {
  message: JobMessage;
  delayMs: number;
}

async function addJobs(sql: Queries, jobs: readonly Job[]): Promise<void> {
  // In the order of the keys: two statements cannot deadlock.
  const sorted = jobs.toSorted((a, b) => keyOf(a.message) < keyOf(b.message) ? -1 : 1);
  await sql`
    select from graphile_worker.add_jobs(array(
      select (kind, json_build_object('id', id), null, now() + make_interval(secs => delay / 1000),
              null, kind || ':' || id, null, null)::graphile_worker.job_spec
        from unnest(${sorted.map(({ message }) => message.kind)}::text[],
                    ${sorted.map(({ message }) => message.id)}::text[],
                    ${sorted.map(({ delayMs }) => delayMs)}::float8[])
          with ordinality as job(kind, id, delay, n) order by n))`;
}

/** `complete_jobs` itself leaves alone what was locked within the last four hours. */
async function removeDeadJobs(sql: Queries, kinds: readonly string[]): Promise<number> {
  const { count } = await sql`
    select from graphile_worker.complete_jobs(array(
      select id from graphile_worker.jobs
       where task_identifier = any (${kinds as string[]}) and attempts >= max_attempts
         and (locked_at is null or locked_at < now() - interval '4 hours')
       limit ${REMOVE_MAX}))`;
  return count;
}

/** Creates or updates the tables of graphile-worker. Several nodes may call this at once. */
export async function migrateQueue(sql: postgres.Sql, databaseUrl: string): Promise<void> {
  const pool = openPgPool(databaseUrl, 1);
  try {
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${LOCK})`;
      await runMigrations({ pgPool: pool, logger: new Logger(() => () => {}) });
    });
  } catch (error) {
    // `pg` reports this in the message only.
    if (
      /Connection terminated|timeout exceeded|not queryable|Client was closed/.test(
        (error as Error).message,
      )
    ) {
      throw new ConnectionError("CONNECTION_CLOSED", (error as Error).message, { cause: error });
    }
    throw error;
  } finally {
    await pool.end();
  }
}
