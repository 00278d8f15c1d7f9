import { z } from "zod";
import type { Queries } from "../database/database.ts";
import { openKv } from "../database/kv.ts";
import type { JobHandler, JobMessage, Queue } from "./queue.ts";
import { Runner, type RunnerOptions } from "./runner.ts";

export interface KvQueueOptions {
  /** The queue's file; created when it does not exist. */
  path: string;
  onStep?: RunnerOptions["onStep"];
  log: RunnerOptions["log"];
}

const REOPEN_MS = 5_000;

/** The messages of the file; anything else in it is ignored. */
const StoredMessage = z.object({ kind: z.string(), id: z.string() });

/**
 * Notifications in a file of Deno KV, for one host. A message without a delay goes straight to a free slot; others
 * wait in the file. Messages may come twice, late or, after a crash or without the file, not at all: the sweeper
 * finds due rows.
 */
export class KvQueue implements Queue {
  readonly isInPostgres = false;
  #kv: Deno.Kv | null;
  #runner: Runner | null = null;
  #reopening: ReturnType<typeof setTimeout> | undefined;
  #failure: string | null = null;
  #isClosed = false;
  #closing: Promise<void> | undefined;
  #listening: Promise<void> = Promise.resolve();
  readonly #enqueuing = new Set<Promise<void>>();

  private constructor(kv: Deno.Kv, private readonly options: KvQueueOptions) {
    this.#kv = kv;
  }

  static async open(options: KvQueueOptions): Promise<KvQueue> {
    const kv = await openFile(options);
    await deleteUndelivered(kv);
    return new KvQueue(kv, options);
  }

  /** This queue is not in Postgres: it has no part in the transaction. */
  enqueueInTransaction(_sql: Queries, _messages: readonly JobMessage[]): Promise<void> {
    return Promise.resolve();
  }

  notify(message: JobMessage, delayMs = 0): void {
    if (this.#isClosed) return;
    if (delayMs <= 0 && this.#runner?.hasRoom(message.kind) && this.#runner.offer(message)) return;
    const enqueuing = this.#enqueue(message, delayMs).finally(() =>
      this.#enqueuing.delete(enqueuing)
    );
    this.#enqueuing.add(enqueuing);
  }

  start(handlers: ReadonlyMap<string, JobHandler>): void {
    const { onStep, log } = this.options;
    this.#runner = new Runner({
      handlers,
      requeue: (message, delayMs) => this.notify(message, delayMs),
      log,
      ...(onStep === undefined ? {} : { onStep }),
    });
    this.#listen();
  }

  async catchUp(maxMs: number): Promise<void> {
    await this.#runner?.catchUp(maxMs);
  }

  depth(): ReturnType<Runner["depth"]> {
    return this.#runner?.depth() ?? [];
  }

  problem(): Promise<string | null> {
    return Promise.resolve(this.#failure ?? this.#runner?.problem() ?? null);
  }

  async #enqueue(message: JobMessage, delayMs: number): Promise<void> {
    const kv = this.#kv;
    if (kv === null) return;
    try {
      await kv.enqueue(message, {
        delay: Math.max(0, Math.ceil(delayMs)),
        // The listener never fails; the retry is for a process that ended while it had the message.
        backoffSchedule: [1_000],
      });
    } catch (error) {
      this.#handleLoss(kv, error);
    }
  }

  #listen(): void {
    const kv = this.#kv;
    if (kv === null) return;
    this.#listening = kv.listenQueue((message) => {
      const read = StoredMessage.safeParse(message);
      if (read.success) this.#runner?.offer(read.data);
    }).catch((error) => this.#handleLoss(kv, error));
  }

  /** Depends on the sweeper until the file can be opened again. */
  #handleLoss(kv: Deno.Kv, error: unknown): void {
    if (this.#isClosed || this.#kv !== kv) return;
    this.#kv = null;
    this.#failure = "the queue's file cannot be used";
    this.options.log.error("queue file unusable, jobs are found by the sweeper only", {
      error,
    });
    close(kv);
    this.#scheduleReopen();
  }

  #scheduleReopen(): void {
    this.#reopening = setTimeout(() => {
      this.#listening = this.#reopen();
    }, REOPEN_MS);
  }

  async #reopen(): Promise<void> {
    try {
      const kv = await openFile(this.options);
      if (this.#isClosed) return close(kv);
      this.#kv = kv;
      this.#failure = null;
      this.#listen();
    } catch {
      // The file still cannot be opened, which was logged when it was lost.
      if (!this.#isClosed) this.#scheduleReopen();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    // Steps that finish now may still enqueue a later one.
    await this.#runner?.[Symbol.asyncDispose]();
    this.#isClosed = true;
    clearTimeout(this.#reopening);
    await Promise.all(this.#enqueuing);
    if (this.#kv !== null) close(this.#kv);
    this.#kv = null;
    await this.#listening;
  }
}

async function openFile({ path, log }: KvQueueOptions): Promise<Deno.Kv> {
  return await openKv(path, log);
}

/** Earlier versions kept undelivered messages; the sweeper finds their rows. */
async function deleteUndelivered(kv: Deno.Kv): Promise<void> {
  for await (const { key } of kv.list({ prefix: ["undelivered"] })) await kv.delete(key);
}

function close(kv: Deno.Kv): void {
  try {
    kv.close();
  } catch (error) {
    // Closed already by the error that broke it.
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}
