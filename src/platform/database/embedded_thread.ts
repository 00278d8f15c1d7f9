import type { Duplex } from "node:stream";
import { Activity } from "./embedded_activity.ts";
import type { FromEngine, ToEngine } from "./embedded_worker.ts";
import { EngineClock } from "./engine_clock.ts";
import { PgliteSocket } from "./pglite_socket.ts";
import { ConnectionError, StorageError } from "./storage_error.ts";
import { withTimeout } from "../../lib/timers.ts";

/** Time limits of the embedded database; options, so that tests need not wait. */
export interface EngineLimits {
  /** To open its files, which includes recovery after a crash. */
  startMs: number;
  /** For one message of a client. A statement that takes longer counts as endless. */
  statementMs: number;
  /** To flush and close. */
  closeMs: number;
  /** Between restart attempts. */
  restartMs: number;
}

export const ENGINE_LIMITS: EngineLimits = {
  startMs: 120_000,
  statementMs: 60_000,
  closeMs: 5_000,
  restartMs: 500,
};

/** Why the engine's thread ended unexpectedly. */
export class EngineFailure extends Error {
  override readonly name = "EngineFailure";

  constructor(
    message: string,
    /** Only a restart of the process helps. */ readonly isStuck = false,
  ) {
    super(message);
  }
}

/** One run of the engine in its own thread. When it ends, all of its connections end. */
export class EngineThread {
  readonly #worker = new Worker(new URL("./embedded_worker.ts", import.meta.url), {
    type: "module",
  });
  readonly #ready = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #connections = new Set<Duplex>();
  readonly #copies = new Map<string, PromiseWithResolvers<void>>();
  readonly #memory = new SharedArrayBuffer(4);
  readonly clock = new EngineClock();
  #state: "starting" | "serving" | "ended" = "starting";
  #watch: ReturnType<typeof setTimeout> | undefined;

  private constructor(
    folder: string,
    private readonly limits: EngineLimits,
    private readonly onLost: (reason: string) => void,
  ) {
    this.#worker.onmessage = ({ data }: MessageEvent<FromEngine>) => {
      if ("ready" in data) {
        this.#state = "serving";
        this.#ready.resolve();
      } else if ("closed" in data) this.#closed.resolve();
      else if ("copied" in data) this.#endCopy(data.copied, data.error);
      else this.#fail(data.failed, data.isStuck);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(event.message);
    };
    this.#tell({ open: { folder, activity: this.#memory, clock: this.clock.memory } });
  }

  /** Rejects with `EngineFailure` when the files cannot be opened. */
  static async start(
    folder: string,
    limits: EngineLimits,
    { onLost = () => {}, signal }: { onLost?: (reason: string) => void; signal?: AbortSignal } = {},
  ): Promise<EngineThread> {
    const thread = new EngineThread(folder, limits, onLost);
    const stop = () => thread.#fail("it was stopped");
    signal?.addEventListener("abort", stop);
    const late = () => thread.#fail(`it did not open its files in ${limits.startMs / 1000} s`);
    const timer = setTimeout(late, limits.startMs);
    try {
      await thread.#ready.promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    }
    thread.#watchStatements();
    return thread;
  }

  connect(): Duplex {
    if (this.#state !== "serving") throw lostEngine("it has ended");
    const { port1, port2 } = new MessageChannel();
    this.#tell({ connect: port2 }, [port2]);
    const connection = new PgliteSocket(port1);
    this.#connections.add(connection);
    return connection.once("close", () => this.#connections.delete(connection));
  }

  /** Copies the files of this moment into a folder that does not exist yet. Statements wait meanwhile. */
  copyTo(folder: string): Promise<void> {
    if (this.#state !== "serving") throw lostEngine("it has ended");
    const copy = Promise.withResolvers<void>();
    this.#copies.set(folder, copy);
    this.#tell({ copyTo: folder });
    return copy.promise;
  }

  #endCopy(folder: string, error: string | null): void {
    const copy = this.#copies.get(folder);
    this.#copies.delete(folder);
    if (error === null) copy?.resolve();
    else copy?.reject(new StorageError(`The backup failed: ${error}.`));
  }

  /** Flushes and closes, within a bounded time. */
  async close(): Promise<void> {
    if (this.#state === "serving") {
      this.#tell({ close: true });
      await withTimeout(this.#closed.promise, this.limits.closeMs, () => undefined);
    }
    this.#end();
  }

  #tell(message: ToEngine, ports: MessagePort[] = []): void {
    this.#worker.postMessage(message, ports);
  }

  /** The engine blocks its thread while it works, so only another thread can see that it never ends. */
  #watchStatements(): void {
    const { statementMs } = this.limits;
    const activity = new Activity(this.#memory);
    let seen = 0;
    let since = 0;
    const look = () => {
      const { count } = activity;
      const now = performance.now();
      if (count !== seen) [seen, since] = [count, now];
      if (count % 2 !== 0 && now - since > statementMs) {
        return this.#fail(`a statement did not end in ${statementMs / 1000} s`);
      }
      this.#watch = setTimeout(look, Math.min(1_000, statementMs / 4));
      Deno.unrefTimer(this.#watch);
    };
    look();
  }

  #fail(reason: string, isStuck = false): void {
    if (this.#state === "ended") return;
    const wasServing = this.#state === "serving";
    this.#end(reason);
    this.#ready.reject(new EngineFailure(reason, isStuck));
    this.#closed.resolve();
    if (wasServing) this.onLost(reason);
  }

  #end(reason?: string): void {
    clearTimeout(this.#watch);
    this.#worker.terminate();
    this.#state = "ended";
    // The thread does not respond any more: waiting queries get an error.
    for (const copy of this.#copies.values()) copy.reject(lostEngine(reason ?? "it was closed"));
    this.#copies.clear();
    for (const connection of this.#connections) {
      connection.destroy(reason === undefined ? undefined : lostEngine(reason));
    }
  }
}

export function lostEngine(reason: string): ConnectionError {
  return new ConnectionError("CONNECTION_CLOSED", `the embedded database is gone: ${reason}`);
}
