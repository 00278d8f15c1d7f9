import { fileURLToPath } from "node:url";
import { frameOf, messagesIn } from "./frames.ts";
import type { FromJobProcess, ToJobProcess } from "./serve_jobs.ts";

export interface ProcessPoolOptions {
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
  /** JavaScript heap of one worker. Beyond it the worker ends, and its job fails. */
  heapMb: number;
  /** A worker without work ends after this long; 0: with its job, which is over when the worker is gone. */
  idleMs?: number;
}

export interface PoolJob<Input> {
  /** At most one job of an owner runs at a time, and owners take turns. */
  owner: string;
  input: Input;
  /** Answers what the job asks for while it runs. */
  answer?: (question: never) => Promise<unknown>;
}

/** The job did not end: no room, no time, or its worker failed. What the job itself throws arrives as it is. */
export class ProcessPoolError extends Error {
  override readonly name = "ProcessPoolError";

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

const CONFIG = fileURLToPath(new URL("../../deno.json", import.meta.url));
/** What Deno needs to find its cache. Nothing else of the environment, which holds keys, is passed on. */
const ENVIRONMENT = ["DENO_DIR", "HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "SYSTEMROOT", "TMPDIR"];

/**
 * One process of a pool, and the job it has in hand. A process and not a thread: Deno's `terminate` does not
 * stop a thread that is in a loop, and such a thread would use up a core for as long as the gateway runs.
 * It may do nothing but read its input and answer; its environment is empty but for Deno's own names, which
 * some packages look through as they load.
 */
export class PoolProcess {
  readonly #process: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #loaded = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<never>();
  /** The process is gone and everything of it is closed. */
  readonly closed: Promise<void>;
  #job: PoolJob<unknown> | null = null;
  #result: PromiseWithResolvers<unknown> | null = null;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #isEnded = false;

  constructor(private readonly options: ProcessPoolOptions, private readonly onEnd: () => void) {
    // Each job awaits it and reports the error; without a job there is nothing to report.
    this.#ended.promise.catch(() => {});
    this.#process = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        "--no-prompt",
        "--cached-only",
        "--allow-env",
        `--config=${CONFIG}`,
        `--v8-flags=--max-old-space-size=${options.heapMb}`,
        options.module.href,
      ],
      clearEnv: true,
      env: Object.fromEntries(
        ENVIRONMENT.flatMap((name) => {
          const value = Deno.env.get(name);
          return value === undefined ? [] : [[name, value]];
        }),
      ),
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#input = this.#process.stdin.getWriter();
    this.closed = Promise.all([this.#listen(), this.#process.status]).then(() => undefined);
  }

  async #listen(): Promise<void> {
    try {
      for await (const message of messagesIn(this.#process.stdout)) {
        this.#hear(message as FromJobProcess);
      }
      this.#kill("a worker ended by itself");
    } catch (error) {
      this.#kill(`a worker failed: ${(error as Error).message}`);
    }
    await this.#input.close().catch(() => undefined); // closed already by its end
  }

  get isFree(): boolean {
    return this.#job === null && !this.#isEnded;
  }

  async run(job: PoolJob<unknown>): Promise<unknown> {
    clearTimeout(this.#idle);
    this.#process.ref();
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
      this.#tell({ input: job.input });
      return await Promise.race([this.#result.promise, this.#ended.promise]);
    } finally {
      clearTimeout(deadline);
      clearTimeout(this.#silence);
      this.#job = null;
      this.#result = null;
      if (!this.#isEnded) this.#rest();
      if (this.options.idleMs === 0) await this.closed;
    }
  }

  #hear(message: FromJobProcess): void {
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

  #tell(message: ToJobProcess): void {
    if (this.#isEnded) return;
    this.#input.write(frameOf(message)).catch((error) =>
      this.#kill(`a worker does not listen: ${error.message}`)
    );
  }

  #rest(): void {
    if (this.options.idleMs === 0) return this.#kill("idle");
    this.#idle = setTimeout(() => this.#kill("idle"), this.options.idleMs ?? IDLE_MS);
    Deno.unrefTimer(this.#idle);
    // A gateway does not stay for a worker that waits for work.
    this.#process.unref();
  }

  #kill(message: string): void {
    this.end(new ProcessPoolError("late", message));
  }

  end(reason: ProcessPoolError): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#process.ref();
    clearTimeout(this.#idle);
    clearTimeout(this.#silence);
    try {
      this.#process.kill("SIGKILL");
    } catch (error) {
      // Gone already.
      if (!(error instanceof TypeError)) throw error;
    }
    this.onEnd();
    this.#ended.reject(reason);
  }
}
