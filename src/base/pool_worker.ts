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
  /** A worker without work ends after this long; 0: with its job. */
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

/** A module that has not loaded by then never will. */
const START_MS = 30_000;
const IDLE_MS = 60_000;

/** One thread of a pool, and the job it has in hand. */
export class PoolWorker {
  readonly #thread: Worker;
  readonly #loaded = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<never>();
  #job: PoolJob<unknown> | null = null;
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

  async run(job: PoolJob<unknown>): Promise<unknown> {
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
    if (this.options.idleMs === 0) return this.#kill("idle");
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
