import { EventEmitter } from "node:events";
import { Logger, runMigrations, runTaskList, type WorkerPool } from "graphile-worker";
// @ts-types="@types/pg"
import type { Pool } from "pg";
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
  /** How often jobs are removed that no worker will take any more. */
  removeEveryMs?: number;
}

/** Jobs of the future are noticed by looking this often; what is due sooner waits in this process. */
const POLL_MS = 2_000;
/** For each kind of work: one listens, the others fetch and complete. */
const CONNECTIONS = 3;
/** What does not end by then is left behind. */
const END_MS = 5_000;
const RESTART_MS = 1_000;
const ENLISTED_MAX = 10_000;
const REMOVE_EVERY_MS = 10 * 60_000;
const REMOVE_MAX = 1_000;
const LOCK = 7_014_255_484;

/**
 * Bells as jobs of graphile-worker in Postgres, for any number of nodes: a job is written in the transaction
 * that makes the work, NOTIFY wakes whoever has a free slot, and jobs of one row collapse to one. What a
 * node that died had taken is found by the sweeper, as with every driver.
 */
export class GraphileQueue implements Queue {
  readonly isInPostgres = true;
  readonly #options: GraphileQueueOptions;
  /** Written with their work already: they need no second bell. */
  readonly #enlisted = new Set<string>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  readonly #hands = new Map<string, Hands>();
  #later = new Map<string, { message: JobMessage; delayMs: number }>();
  #adding: Promise<void> | null = null;
  #removing: AsyncDisposable | null = null;
  #runner: Runner | null = null;
  #isClosing = false;
  #isClosed = false;
  #closed: Promise<void> | null = null;

  constructor(options: GraphileQueueOptions) {
    this.#options = options;
  }

  async enlist(sql: Queries, message: JobMessage, delayMs = 0): Promise<void> {
    await addJobs(sql, [{ message, delayMs }]);
    if (this.#enlisted.size >= ENLISTED_MAX) this.#enlisted.clear();
    if (delayMs <= 0) this.#enlisted.add(keyOf(message));
  }

  ring(message: JobMessage, delayMs = 0): void {
    if (this.#isClosed) return;
    const key = keyOf(message);
    if (delayMs <= 0 && this.#enlisted.delete(key)) return;
    if (delayMs > 0 && delayMs <= POLL_MS && this.#runner !== null) {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.#runner?.offer(message);
      }, delayMs);
      this.#timers.add(timer);
      return;
    }
    this.#later.set(key, { message, delayMs: Math.max(0, delayMs) });
    this.#adding ??= this.#add();
  }

  start(workers: ReadonlyMap<string, JobHandler>): void {
    const { onStep, log } = this.#options;
    this.#runner = new Runner({
      workers,
      again: (message, delayMs) => this.ring(message, delayMs),
      log,
      ...(onStep === undefined ? {} : { onStep }),
    });
    for (const [kind, { slots }] of workers) this.#listen(kind, slots, this.#runner);
    const kinds = [...workers.keys()];
    this.#removing = periodic(() => this.#removeDead(kinds), {
      intervalMs: this.#options.removeEveryMs ?? REMOVE_EVERY_MS,
      startsAtOnce: true,
      onError: (error) => {
        if (!isStorageDown(error)) this.#options.log.error("cannot remove dead jobs", { error });
      },
    });
  }

  /**
   * A job that is rung again while it is locked is given its last attempt and replaced; one whose node then
   * dies is never taken again and never removed. Jobs only wake workers: rows that are due are found without.
   */
  async #removeDead(kinds: readonly string[]): Promise<void> {
    const removed = await removeDeadJobs(this.#options.sql, kinds);
    if (removed > 0) this.#options.log.info("removed jobs of dead workers", { jobs: removed });
  }

  async catchUp(patienceMs: number): Promise<void> {
    await this.#runner?.catchUp(patienceMs);
  }

  depth(): ReturnType<Runner["depth"]> {
    return this.#runner?.depth() ?? [];
  }

  ailment(): Promise<string | null> {
    return Promise.resolve(this.#runner?.ailment() ?? null);
  }

  /** One statement at a time; what is rung meanwhile goes into the next one together. */
  async #add(): Promise<void> {
    await Promise.resolve();
    while (this.#later.size > 0) {
      const jobs = [...this.#later.values()];
      this.#later = new Map();
      try {
        await addJobs(this.#options.sql, jobs);
      } catch (error) {
        // Rows know when they are due; the sweeper comes to them.
        if (!isStorageDown(error)) this.#options.log.error("cannot add jobs", { error });
      }
    }
    this.#adding = null;
  }

  /** Each kind has workers of its own: slow receivers of events keep no task waiting. */
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
            this.#options.log.warn("the queue's worker complains", { kind, message });
          }
        }),
        preset: {
          worker: {
            localQueue: { size: slots, ttl: 2 * POLL_MS },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
            // Steps hear of the end from the runner, not from here; and this timer is never cleared.
            gracefulShutdownAbortTimeout: 1,
          },
        },
      },
      { [kind]: (payload) => runner.perform({ kind, id: (payload as { id: string }).id }) },
      pool,
    );
    const hands: Hands = { workers, pool };
    this.#hands.set(kind, hands);
    workers.promise.catch(() => {}); // told by the logger
    // Workers that lost the database while they finished a job give up, and may never say that they are done:
    // others take over at once, with connections of their own.
    events.once("pool:gracefulShutdown", () => {
      if (this.#isClosing || this.#hands.get(kind) !== hands) return;
      void pool.end().catch(() => {});
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
    const ending = [...this.#hands.values()].map(async ({ workers, pool }) => {
      await Promise.resolve(workers.gracefulShutdown()).catch(() => {});
      await pool.end().catch(() => {}); // it may have been ended before
    });
    await this.#runner?.[Symbol.asyncDispose]();
    await this.#removing?.[Symbol.asyncDispose]();
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#adding;
    await withTimeout(Promise.all(ending), END_MS, () => undefined);
  }
}

/** Who does the jobs of one kind. */
interface Hands {
  readonly workers: WorkerPool;
  readonly pool: Pool;
}

function keyOf({ kind, id }: JobMessage): string {
  return `${kind}:${id}`;
}

interface Job {
  message: JobMessage;
  delayMs: number;
}

async function addJobs(sql: Queries, jobs: readonly Job[]): Promise<void> {
  // In the order of the keys: nobody waits in a circle.
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

/** Makes or updates the tables of graphile-worker. Ten nodes may call this at once. */
export async function migrateQueue(sql: postgres.Sql, databaseUrl: string): Promise<void> {
  const pool = openPgPool(databaseUrl, 1);
  try {
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${LOCK})`;
      await runMigrations({ pgPool: pool, logger: new Logger(() => () => {}) });
    });
  } catch (error) {
    // The other driver says this in words only.
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
