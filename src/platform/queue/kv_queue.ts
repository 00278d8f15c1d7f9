import { z } from "zod";
import type { Queries } from "../database/database.ts";
import { openKv } from "../database/kv.ts";
import type { JobHandler, JobMessage, Queue } from "./queue.ts";
import { Runner, type RunnerOptions } from "./runner.ts";

export interface KvQueueOptions {
  /** The file of the queue; made when it is not there. */
  path: string;
  onStep?: RunnerOptions["onStep"];
  log: RunnerOptions["log"];
}

const REOPEN_MS = 5_000;

/** What a file of ours may hold; anything else in it is ignored. */
const Rung = z.object({ kind: z.string(), id: z.string() });

/**
 * Bells in a file of Deno KV, for one host. What is to be done at once goes straight to a free slot; what
 * comes later, or finds no room, waits in the file. Messages may come twice, late or, after a crash or
 * with the file gone, not at all: rows know when they are due, and the sweeper looks.
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
  readonly #ringing = new Set<Promise<void>>();

  private constructor(kv: Deno.Kv, private readonly options: KvQueueOptions) {
    this.#kv = kv;
  }

  static async open(options: KvQueueOptions): Promise<KvQueue> {
    const kv = await openFile(options);
    await forgetUndelivered(kv);
    return new KvQueue(kv, options);
  }

  /** This queue is not in Postgres: there is nothing to take part in. */
  enlist(_sql: Queries, _message: JobMessage): Promise<void> {
    return Promise.resolve();
  }

  ring(message: JobMessage, delayMs = 0): void {
    if (this.#isClosed) return;
    if (delayMs <= 0 && this.#runner?.hasRoom(message.kind) && this.#runner.offer(message)) return;
    const ringing = this.#enqueue(message, delayMs).finally(() => this.#ringing.delete(ringing));
    this.#ringing.add(ringing);
  }

  start(workers: ReadonlyMap<string, JobHandler>): void {
    const { onStep, log } = this.options;
    this.#runner = new Runner({
      workers,
      again: (message, delayMs) => this.ring(message, delayMs),
      log,
      ...(onStep === undefined ? {} : { onStep }),
    });
    this.#listen();
  }

  async catchUp(patienceMs: number): Promise<void> {
    await this.#runner?.catchUp(patienceMs);
  }

  depth(): ReturnType<Runner["depth"]> {
    return this.#runner?.depth() ?? [];
  }

  ailment(): Promise<string | null> {
    return Promise.resolve(this.#failure ?? this.#runner?.ailment() ?? null);
  }

  async #enqueue(message: JobMessage, delayMs: number): Promise<void> {
    const kv = this.#kv;
    if (kv === null) return;
    try {
      await kv.enqueue(message, {
        delay: Math.max(0, Math.ceil(delayMs)),
        // The listener only hands on and never fails: one more try is for a process that ended in it.
        backoffSchedule: [1_000],
      });
    } catch (error) {
      this.#lose(kv, error);
    }
  }

  #listen(): void {
    const kv = this.#kv;
    if (kv === null) return;
    this.#listening = kv.listenQueue((message) => {
      const read = Rung.safeParse(message);
      if (read.success) this.#runner?.offer(read.data);
    }).catch((error) => this.#lose(kv, error));
  }

  /** Lives on the sweeper until the file can be opened again. */
  #lose(kv: Deno.Kv, error: unknown): void {
    if (this.#isClosed || this.#kv !== kv) return;
    this.#kv = null;
    this.#failure = "the queue's file cannot be used";
    this.options.log.error("the queue's file cannot be used: work goes on more slowly", {
      error,
    });
    close(kv);
    this.#planReopening();
  }

  #planReopening(): void {
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
      if (!this.#isClosed) this.#planReopening();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    // Steps that finish now may still want a later bell.
    await this.#runner?.[Symbol.asyncDispose]();
    this.#isClosed = true;
    clearTimeout(this.#reopening);
    await Promise.all(this.#ringing);
    if (this.#kv !== null) close(this.#kv);
    this.#kv = null;
    await this.#listening;
  }
}

async function openFile({ path, log }: KvQueueOptions): Promise<Deno.Kv> {
  return await openKv(path, log);
}

/** Earlier versions kept messages that were never delivered; the sweeper finds what they were about. */
async function forgetUndelivered(kv: Deno.Kv): Promise<void> {
  for await (const { key } of kv.list({ prefix: ["undelivered"] })) await kv.delete(key);
}

function close(kv: Deno.Kv): void {
  try {
    kv.close();
  } catch {
    // It was closed by what broke it.
  }
}
