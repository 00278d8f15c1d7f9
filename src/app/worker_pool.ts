import { WorkerMetrics } from "./worker_metrics.ts";
import { newPulseMemory, PulseReader } from "./pulse.ts";
import { periodic, rethrow, withTimeout } from "../lib/timers.ts";
import type { Log } from "../platform/telemetry/log.ts";

/** What is said to a thread of the crew. `tell`: say what you have counted; `told`: what all have. */
export type WorkerCommand =
  | { kind: "start"; port: number | null; pulse: SharedArrayBuffer }
  | { kind: "tell" }
  | { kind: "told"; all: unknown[] }
  | { kind: "stop" };

/** What a thread says. `count`: what it has counted; it `ask`s when it wants to know of all. */
export type WorkerReport =
  | { kind: "ready"; port: number; banner: string }
  | { kind: "count"; count: unknown; ask: boolean }
  | { kind: "failed"; reason: string }
  | { kind: "ended" };

export interface WorkerPoolOptions {
  size: number;
  /** A thread that takes orders and reports. */
  hire(name: string): Worker;
  log: Pick<Log, "info" | "error">;
  /** Adds up the counts of threads that are gone. */
  keepCounts(counts: readonly unknown[]): Promise<unknown>;
  /** Pause before a lost thread is replaced; it doubles while they keep failing. */
  pauseMs?: number;
  /** How long a thread may be blocked before `blocked` tells; 0 or left out: for ever. */
  blockedMs?: number;
  /** How often threads are looked at. */
  lookMs?: number;
}

const PAUSE_MAX_MS = 30_000;
/** What lived this long did not fail because of how it starts. */
const SETTLED_MS = 60_000;
/** A gateway takes 20 s at most to end. */
const STOP_MS = 25_000;

/** A thread could not start; the message is for the operator. */
export class WorkerPoolError extends Error {
  override readonly name = "WorkerPoolError";
}

interface Member {
  readonly thread: Worker;
  readonly ended: Promise<void>;
}

/**
 * Several gateways on one port, one to a thread, so that all cores serve: the system shares connections out
 * among those who listen. A thread that fails is replaced, the others go on.
 */
export class WorkerPool implements AsyncDisposable {
  readonly #members = new Set<Member>();
  readonly #counts: WorkerMetrics<Worker>;
  readonly #pauses = new Set<ReturnType<typeof setTimeout>>();
  #port: number | null = null;
  #banner = "";
  readonly #blocked = Promise.withResolvers<string>();
  #isStopping = false;
  #stopped: Promise<void> | null = null;

  private constructor(private readonly options: WorkerPoolOptions) {
    this.#counts = new WorkerMetrics({ keep: options.keepCounts });
  }

  /** Resolves when everybody serves; rejects with `WorkerPoolError` when one cannot start. */
  static async start(options: WorkerPoolOptions): Promise<WorkerPool> {
    const pool = new WorkerPool(options);
    try {
      // The first one alone: it migrates, and finds the port where any will do.
      await pool.#hire(1);
      await Promise.all(
        Array.from({ length: options.size - 1 }, (_, i) => pool.#hire(i + 2)),
      );
    } catch (error) {
      await pool[Symbol.asyncDispose]();
      throw error;
    }
    return pool;
  }

  get banner(): string {
    return this.#banner;
  }

  /** Resolves with the name of a thread that is blocked: only ending the process helps then. */
  get blocked(): Promise<string> {
    return this.#blocked.promise;
  }

  get size(): number {
    return this.#members.size;
  }

  /** Starts a thread and waits until it serves. One that is lost later is replaced. */
  #hire(number: number, pauseMs = this.options.pauseMs ?? 1_000): Promise<void> {
    const name = `gateway ${number}`;
    const thread = this.options.hire(name);
    const startedAt = performance.now();
    const ready = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const member: Member = { thread, ended: ended.promise };
    let isReady = false;
    this.#members.add(member);
    const pulse = newPulseMemory();
    const watching = this.#watch(pulse, (fields) => {
      watching?.[Symbol.dispose]();
      // Deno cannot end a blocked thread: its listener would go on taking a share of the connections.
      this.#members.delete(member);
      this.options.log.error("thread blocked, process ends", { thread: name, ...fields });
      this.#blocked.resolve(name);
    });
    const lose = (reason: string) => {
      if (!this.#members.delete(member)) return;
      watching?.[Symbol.dispose]();
      this.#counts.remove(thread);
      thread.terminate();
      ended.resolve();
      if (!isReady) return ready.reject(new WorkerPoolError(reason));
      if (this.#isStopping) return;
      this.options.log.error("a thread failed and is replaced", { thread: name, reason });
      const isSettled = performance.now() - startedAt > SETTLED_MS;
      this.#replace(number, isSettled ? this.options.pauseMs ?? 1_000 : pauseMs);
    };
    thread.onerror = (event) => {
      event.preventDefault();
      lose(event.message);
    };
    thread.onmessage = ({ data }: MessageEvent<WorkerReport>) => {
      if (data.kind === "failed") lose(data.reason);
      else if (data.kind === "ended") lose("it ended");
      else if (data.kind === "count") {
        this.#counts.hear(thread, data.count);
        if (data.ask) void this.#tellAll(thread);
      } else {
        isReady = true;
        this.#counts.add(thread);
        this.#port ??= data.port;
        if (this.#banner === "") this.#banner = data.banner;
        ready.resolve();
      }
    };
    thread.postMessage({ kind: "start", port: this.#port, pulse } satisfies WorkerCommand);
    return ready.promise;
  }

  /** Looks at a thread now and then; it counts from the thread's first sign of life on. */
  #watch(
    memory: SharedArrayBuffer,
    onBlocked: (fields: Record<string, unknown>) => void,
  ): Disposable | undefined {
    const { blockedMs = 0, lookMs = 1_000 } = this.options;
    if (blockedMs === 0) return undefined;
    const reader = new PulseReader(memory);
    return periodic(() => {
      const forMs = reader.look() * lookMs;
      if (forMs < blockedMs) return;
      onBlocked({ blocked_ms: forMs, last_requests: reader.lastRequests() });
    }, { intervalMs: lookMs, onError: rethrow, keepsProcessAlive: true });
  }

  async #tellAll(asker: Worker): Promise<void> {
    const all = await this.#counts.gather(
      asker,
      (thread) => thread.postMessage({ kind: "tell" } satisfies WorkerCommand),
    );
    asker.postMessage({ kind: "told", all } satisfies WorkerCommand);
  }

  #replace(number: number, pauseMs: number): void {
    const pause = setTimeout(() => {
      this.#pauses.delete(pause);
      if (this.#isStopping) return;
      const nextMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
      this.#hire(number, nextMs).catch((error) => {
        if (this.#isStopping) return;
        this.options.log.error("a thread cannot start", { reason: (error as Error).message });
        this.#replace(number, nextMs);
      });
    }, pauseMs);
    this.#pauses.add(pause);
  }

  /** Tells everybody to finish what runs, waits, and ends who does not. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#stopped ??= this.#stop();
  }

  async #stop(): Promise<void> {
    this.#isStopping = true;
    for (const pause of this.#pauses) clearTimeout(pause);
    const members = [...this.#members];
    for (const { thread } of members) thread.postMessage({ kind: "stop" } satisfies WorkerCommand);
    const ended = Promise.all(members.map(({ ended }) => ended));
    await withTimeout(ended, STOP_MS, () => undefined);
    for (const { thread } of members) thread.terminate();
  }
}
