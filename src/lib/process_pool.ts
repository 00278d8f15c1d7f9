import {
  type PoolJob,
  PoolProcess,
  ProcessPoolError,
  type ProcessPoolOptions,
} from "./pool_process.ts";

export { type PoolJob, ProcessPoolError, type ProcessPoolOptions } from "./pool_process.ts";

interface Waiting extends PoolJob<unknown> {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  patience: ReturnType<typeof setTimeout>;
}

const DISTRUST_MS = 60_000;
const DISTRUSTED_MAX = 1_000;

/**
 * Runs parsers over bytes from outside, and other work that might not end, away from the main thread. A
 * worker that is over its time is killed and replaced.
 */
export class ProcessPool implements AsyncDisposable {
  readonly #workers = new Set<PoolProcess>();
  /** By owner, in the order of their turns. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #running = new Set<string>();
  /** Owners of jobs that were ended by force, and until when that is remembered. */
  readonly #distrusted = new Map<string, number>();
  /** Processes that are not gone yet. */
  readonly #closing = new Set<Promise<void>>();
  #waitingCount = 0;
  #isClosed = false;

  constructor(private readonly options: ProcessPoolOptions) {}

  run<Input, Output>(job: PoolJob<Input>): Promise<Output> {
    if (this.#isClosed) return Promise.reject(new ProcessPoolError("closed", "the pool is closed"));
    if (this.#waitingCount >= this.options.waitingMax) {
      return Promise.reject(new ProcessPoolError("full", "too many jobs wait"));
    }
    return new Promise<Output>((resolve, reject) => {
      const patience = setTimeout(
        () => this.#giveUp(waiting, new ProcessPoolError("full", "no worker was free in time")),
        this.options.waitMs,
      );
      const waiting: Waiting = {
        ...job,
        resolve: resolve as Waiting["resolve"],
        reject,
        patience,
      };
      const own = this.#waiting.get(job.owner);
      if (own === undefined) this.#waiting.set(job.owner, [waiting]);
      else own.push(waiting);
      this.#waitingCount++;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#waitingCount > 0) {
      const next = this.#nextOwner();
      if (next === undefined) return;
      const worker = this.#freeWorker();
      if (worker === null) return;
      const job = this.#take(next);
      clearTimeout(job.patience);
      if (worker instanceof ProcessPoolError) {
        job.reject(worker);
        continue;
      }
      this.#running.add(job.owner);
      worker.run(job).then(job.resolve, (error) => {
        if (error instanceof ProcessPoolError && error.reason === "late") this.#distrust(job.owner);
        job.reject(error);
      }).finally(() => {
        this.#running.delete(job.owner);
        this.#moveToEnd(job.owner);
        this.#dispatch();
      });
    }
  }

  /** Those first whose jobs came to an end: whose did not must not keep others from the workers. */
  #nextOwner(): string | undefined {
    const idle = [...this.#waiting.keys()].filter((owner) => !this.#running.has(owner));
    const now = performance.now();
    return idle.find((owner) => !(this.#distrusted.get(owner)! > now)) ?? idle[0];
  }

  #distrust(owner: string): void {
    this.#distrusted.delete(owner);
    this.#distrusted.set(owner, performance.now() + DISTRUST_MS);
    if (this.#distrusted.size > DISTRUSTED_MAX) {
      this.#distrusted.delete(this.#distrusted.keys().next().value!);
    }
  }

  /** The owner's oldest job. */
  #take(owner: string): Waiting {
    const own = this.#waiting.get(owner)!;
    const job = own.shift()!;
    if (own.length === 0) this.#waiting.delete(owner);
    this.#waitingCount--;
    return job;
  }

  /** An owner whose job is over has its next turn after all others. */
  #moveToEnd(owner: string): void {
    const own = this.#waiting.get(owner);
    if (own === undefined) return;
    this.#waiting.delete(owner);
    this.#waiting.set(owner, own);
  }

  #giveUp(job: Waiting, error: ProcessPoolError): void {
    const own = this.#waiting.get(job.owner) ?? [];
    const at = own.indexOf(job);
    if (at < 0) return;
    own.splice(at, 1);
    if (own.length === 0) this.#waiting.delete(job.owner);
    this.#waitingCount--;
    clearTimeout(job.patience);
    job.reject(error);
  }

  #freeWorker(): PoolProcess | ProcessPoolError | null {
    for (const worker of this.#workers) if (worker.isFree) return worker;
    if (this.#workers.size >= this.options.size) return null;
    try {
      const worker = new PoolProcess(this.options, () => this.#workers.delete(worker));
      this.#workers.add(worker);
      const closing = worker.closed.finally(() => this.#closing.delete(closing));
      this.#closing.add(closing);
      return worker;
    } catch (cause) {
      return new ProcessPoolError("unavailable", "a worker cannot start", { cause });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const closed = new ProcessPoolError("closed", "the pool is closed");
    for (const own of [...this.#waiting.values()]) {
      for (const job of [...own]) this.#giveUp(job, closed);
    }
    for (const worker of [...this.#workers]) worker.end(closed);
    await Promise.all(this.#closing);
  }
}
