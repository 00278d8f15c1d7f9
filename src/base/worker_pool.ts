import { Worker } from "node:worker_threads";
import type { FromWorker, ToWorker } from "./serve_jobs.ts";

export interface WorkerPoolOptions {
  /** The worker's module; it calls `serveJobs`. */
  module: URL;
  /** Workers at most. They start with the first job that needs them. */
  size: number;
  /** A job may take this long once its worker has loaded. */
  deadlineMs: number;
  /** A job that neither asks nor answers for this long is taken for an endless loop; the deadline if left out. */
  silenceMs?: number;
  /** A job that has not begun by then fails. */
  waitMs: number;
  /** Jobs that wait at most; one more fails at once. */
  waitingMax: number;
  /** JavaScript heap of one worker. Beyond it the worker stops, and its job ends at the deadline. */
  heapMb: number;
  /** A worker without work ends after this long. */
  idleMs?: number;
}

export interface PoolJob<Input> {
  /** At most one job of an owner runs at a time, and owners take turns. */
  owner: string;
  input: Input;
  /** Buffers in `input` that move to the worker instead of being copied. */
  transfer?: readonly ArrayBuffer[];
  /** Answers what the job asks for while it runs. */
  answer?: (question: never) => Promise<unknown>;
}

/** The job did not end: no room, no time, or its worker failed. What the job itself throws arrives as it is. */
export class WorkerPoolError extends Error {
  override readonly name = "WorkerPoolError";

  constructor(
    /** `late`: it ran, and was ended. `unavailable`: there are no workers here. */
    readonly reason: "full" | "late" | "unavailable" | "closed",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

interface Waiting extends PoolJob<unknown> {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  patience: ReturnType<typeof setTimeout>;
}

/** A module that has not loaded by then never will. */
const START_MS = 30_000;
const IDLE_MS = 60_000;

/**
 * Runs parsers over bytes from outside, and other work that might not end, away from the main thread. A
 * worker that is over its time is terminated and replaced. Node's workers and not the web's, since their
 * heap can be limited: a web worker that runs out of memory ends the whole process.
 */
export class WorkerPool implements Disposable {
  readonly #workers = new Set<PoolWorker>();
  /** By owner, in the order of their turns. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #running = new Set<string>();
  #waitingCount = 0;
  #isClosed = false;

  constructor(private readonly options: WorkerPoolOptions) {}

  run<Input, Output>(job: PoolJob<Input>): Promise<Output> {
    if (this.#isClosed) return Promise.reject(new WorkerPoolError("closed", "the pool is closed"));
    if (this.#waitingCount >= this.options.waitingMax) {
      return Promise.reject(new WorkerPoolError("full", "too many jobs wait"));
    }
    return new Promise<Output>((resolve, reject) => {
      const patience = setTimeout(
        () => this.#giveUp(waiting, new WorkerPoolError("full", "no worker was free in time")),
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
      const next = [...this.#waiting.keys()].find((owner) => !this.#running.has(owner));
      if (next === undefined) return;
      const worker = this.#freeWorker();
      if (worker === null) return;
      const job = this.#take(next);
      clearTimeout(job.patience);
      if (worker instanceof WorkerPoolError) {
        job.reject(worker);
        continue;
      }
      this.#running.add(job.owner);
      worker.run(job).then(job.resolve, job.reject).finally(() => {
        this.#running.delete(job.owner);
        this.#dispatch();
      });
    }
  }

  /** The owner's oldest job; the owner's next turn comes after everybody else's. */
  #take(owner: string): Waiting {
    const own = this.#waiting.get(owner)!;
    const job = own.shift()!;
    this.#waiting.delete(owner);
    if (own.length > 0) this.#waiting.set(owner, own);
    this.#waitingCount--;
    return job;
  }

  #giveUp(job: Waiting, error: WorkerPoolError): void {
    const own = this.#waiting.get(job.owner) ?? [];
    const at = own.indexOf(job);
    if (at < 0) return;
    own.splice(at, 1);
    if (own.length === 0) this.#waiting.delete(job.owner);
    this.#waitingCount--;
    clearTimeout(job.patience);
    job.reject(error);
  }

  #freeWorker(): PoolWorker | WorkerPoolError | null {
    for (const worker of this.#workers) if (worker.isFree) return worker;
    if (this.#workers.size >= this.options.size) return null;
    try {
      const worker = new PoolWorker(this.options, () => this.#workers.delete(worker));
      this.#workers.add(worker);
      return worker;
    } catch (cause) {
      return new WorkerPoolError("unavailable", "a worker cannot start", { cause });
    }
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    const closed = new WorkerPoolError("closed", "the pool is closed");
    for (const own of [...this.#waiting.values()]) {
      for (const job of [...own]) this.#giveUp(job, closed);
    }
    for (const worker of [...this.#workers]) worker.end(closed);
  }
}

class PoolWorker {
  readonly #thread: Worker;
  readonly #loaded = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<never>();
  #job: Waiting | null = null;
  #result: PromiseWithResolvers<unknown> | null = null;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #isEnded = false;

  constructor(private readonly options: WorkerPoolOptions, private readonly onEnd: () => void) {
    this.#ended.promise.catch(() => {});
    this.#thread = new Worker(options.module, {
      resourceLimits: { maxOldGenerationSizeMb: options.heapMb },
    });
    // A process does not stay for a worker that waits for work.
    this.#thread.unref();
    this.#thread.on("message", (message: FromWorker) => this.#hear(message));
    this.#thread.on("error", (error) => this.#kill(`a worker failed: ${error.message}`));
    this.#thread.on("exit", () => this.#kill("a worker ended by itself"));
  }

  get isFree(): boolean {
    return this.#job === null && !this.#isEnded;
  }

  async run(job: Waiting): Promise<unknown> {
    clearTimeout(this.#idle);
    this.#job = job;
    let deadline = setTimeout(() => this.#kill("a worker did not start in time"), START_MS);
    try {
      await Promise.race([this.#loaded.promise, this.#ended.promise]);
      clearTimeout(deadline);
      deadline = setTimeout(
        () => this.#kill("a job ran past its deadline"),
        this.options.deadlineMs,
      );
      this.#result = Promise.withResolvers();
      this.#listenForSilence();
      this.#tell({ input: job.input }, job.transfer);
      return await Promise.race([this.#result.promise, this.#ended.promise]);
    } finally {
      clearTimeout(deadline);
      clearTimeout(this.#silence);
      this.#job = null;
      this.#result = null;
      if (!this.#isEnded) this.#rest();
    }
  }

  #hear(message: FromWorker): void {
    clearTimeout(this.#silence);
    if ("loaded" in message) this.#loaded.resolve();
    else if ("result" in message) this.#result?.resolve(message.result);
    else if ("error" in message) this.#result?.reject(message.error);
    else void this.#answer(message.question, message.value);
  }

  async #answer(question: number, value: unknown): Promise<void> {
    const job = this.#job;
    if (job === null) return;
    try {
      const answer = await job.answer!(value as never);
      if (this.#job !== job) return;
      this.#listenForSilence();
      this.#tell({ question, answer });
    } catch (error) {
      if (this.#job !== job) return;
      this.#listenForSilence();
      this.#tell({ question, error: String(error) });
    }
  }

  #listenForSilence(): void {
    const { silenceMs } = this.options;
    clearTimeout(this.#silence);
    if (silenceMs === undefined) return;
    this.#silence = setTimeout(() => this.#kill("a job does not go on"), silenceMs);
  }

  #tell(message: ToWorker, transfer: readonly ArrayBuffer[] = []): void {
    if (!this.#isEnded) this.#thread.postMessage(message, [...transfer]);
  }

  #rest(): void {
    this.#idle = setTimeout(() => this.#kill("idle"), this.options.idleMs ?? IDLE_MS);
    Deno.unrefTimer(this.#idle);
  }

  #kill(message: string): void {
    this.end(new WorkerPoolError("late", message));
  }

  end(reason: WorkerPoolError): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#silence);
    void this.#thread.terminate();
    this.onEnd();
    this.#ended.reject(reason);
  }
}
