import { periodic, rethrow, withTimeout } from "../lib/timers.ts";
import type { Log } from "../platform/telemetry/log.ts";
import { HeartbeatReader, newHeartbeatMemory } from "./heartbeat.ts";
import { STOP_MS } from "./stop_time.ts";
import { WorkerMetrics } from "./worker_metrics.ts";

/** Commands to a worker. `collect`: send your metrics; `collected`: here are those of all threads. */
export type WorkerCommand =
  | { kind: "start"; port: number | null; heartbeat: SharedArrayBuffer }
  | { kind: "collect" }
  | { kind: "collected"; all: unknown[] }
  | { kind: "stop" };

/** Reports of a worker. With `metrics` it may ask for those of all threads. */
export type WorkerReport =
  | { kind: "ready"; port: number; banner: string }
  | { kind: "metrics"; metrics: unknown; wantsAll: boolean }
  | { kind: "failed"; reason: string }
  | { kind: "ended" };

export interface WorkerPoolOptions {
  size: number;
  /** Starts a thread that takes commands and reports. */
  spawn(name: string): Worker;
  log: Pick<Log, "info" | "error">;
  /** Merges the counters of exited threads. */
  keepCounters(metrics: readonly unknown[]): Promise<unknown>;
  /** Pause before a failed thread is replaced; it doubles while replacements fail. */
  pauseMs?: number;
  /** How long a thread may be blocked before `blocked` resolves; 0 or left out: for ever. */
  blockedMs?: number;
  /** How often heartbeats are checked. */
  checkMs?: number;
}

const PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 30_000;
/** A thread that ran this long did not fail because of how it starts. */
const STABLE_MS = 60_000;

/** A thread could not start; the message is for the operator. */
export class WorkerPoolError extends Error {
  override readonly name = "WorkerPoolError";
}

interface Member {
  readonly name: string;
  readonly thread: Worker;
  readonly ready: PromiseWithResolvers<void>;
  readonly ended: PromiseWithResolvers<void>;
  readonly startedAt: number;
  isReady: boolean;
  watch: Disposable | undefined;
}

/**
 * Several gateways on one port, one to a thread, so that all cores serve: the system distributes connections among
 * the listeners. A thread that fails is replaced, the others go on.
 */
export class WorkerPool implements AsyncDisposable {
  readonly #members = new Set<Member>();
  readonly #metrics: WorkerMetrics<Worker>;
  readonly #pauses = new Set<ReturnType<typeof setTimeout>>();
  #port: number | null = null;
  #banner = "";
  readonly #blocked = Promise.withResolvers<string>();
  #isStopping = false;
  #stopped: Promise<void> | null = null;

  private constructor(private readonly options: WorkerPoolOptions) {
    this.#metrics = new WorkerMetrics({ keep: options.keepCounters });
  }

  /** Resolves when all threads serve; rejects with `WorkerPoolError` when one cannot start. */
  static async start(options: WorkerPoolOptions): Promise<WorkerPool> {
    const pool = new WorkerPool(options);
    try {
      // The first one alone: it migrates the database, and finds the port where any will do.
      await pool.#spawn(1);
      await Promise.all(
        Array.from({ length: options.size - 1 }, (_, i) => pool.#spawn(i + 2)),
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

  get #pauseMs(): number {
    return this.options.pauseMs ?? PAUSE_MS;
  }

  /** Starts a thread and resolves when it serves. If it fails after that, it is replaced. */
  #spawn(number: number, pauseMs = this.#pauseMs): Promise<void> {
    const name = `gateway ${number}`;
    const thread = this.options.spawn(name);
    const heartbeat = newHeartbeatMemory();
    const member: Member = {
      name,
      thread,
      ready: Promise.withResolvers(),
      ended: Promise.withResolvers(),
      startedAt: performance.now(),
      isReady: false,
      watch: undefined,
    };
    member.watch = this.#watch(member, heartbeat);
    this.#members.add(member);
    const remove = (reason: string) => this.#remove(member, reason, number, pauseMs);
    thread.onerror = (event) => {
      event.preventDefault();
      remove(event.message);
    };
    thread.onmessage = ({ data }: MessageEvent<WorkerReport>) => {
      if (data.kind === "failed") remove(data.reason);
      else if (data.kind === "ended") remove("it ended");
      else if (data.kind === "ready") this.#serve(member, data);
      else {
        this.#metrics.receive(thread, data.metrics);
        if (data.wantsAll) void this.#sendAllMetrics(thread);
      }
    };
    thread.postMessage({ kind: "start", port: this.#port, heartbeat } satisfies WorkerCommand);
    return member.ready.promise;
  }

  #serve(member: Member, { port, banner }: { port: number; banner: string }): void {
    member.isReady = true;
    this.#metrics.add(member.thread);
    this.#port ??= port;
    if (this.#banner === "") this.#banner = banner;
    member.ready.resolve();
  }

  #remove(member: Member, reason: string, number: number, pauseMs: number): void {
    if (!this.#members.delete(member)) return;
    const { name, thread, ready, ended, startedAt } = member;
    member.watch?.[Symbol.dispose]();
    this.#metrics.remove(thread);
    thread.terminate();
    ended.resolve();
    if (!member.isReady) return ready.reject(new WorkerPoolError(reason));
    if (this.#isStopping) return;
    this.options.log.error("thread failed, starting a replacement", { thread: name, reason });
    const wasStable = performance.now() - startedAt > STABLE_MS;
    this.#replace(number, wasStable ? this.#pauseMs : pauseMs);
  }

  /** Checks a thread's heartbeat from its first one on. */
  #watch(member: Member, memory: SharedArrayBuffer): Disposable | undefined {
    const { blockedMs = 0, checkMs = 1_000, log } = this.options;
    if (blockedMs === 0) return undefined;
    const reader = new HeartbeatReader(memory);
    return periodic(() => {
      const forMs = reader.missedChecks() * checkMs;
      if (forMs < blockedMs) return;
      member.watch?.[Symbol.dispose]();
      // Deno cannot end a blocked thread: its listener would go on taking a share of the connections.
      this.#members.delete(member);
      log.error("thread blocked, process ends", {
        thread: member.name,
        blocked_ms: forMs,
        last_requests: reader.lastRequests(),
      });
      this.#blocked.resolve(member.name);
    }, { intervalMs: checkMs, onError: rethrow, keepsProcessAlive: true });
  }

  async #sendAllMetrics(asker: Worker): Promise<void> {
    const all = await this.#metrics.collect(
      asker,
      (thread) => thread.postMessage({ kind: "collect" } satisfies WorkerCommand),
    );
    asker.postMessage({ kind: "collected", all } satisfies WorkerCommand);
  }

  #replace(number: number, pauseMs: number): void {
    const pause = setTimeout(() => {
      this.#pauses.delete(pause);
      if (this.#isStopping) return;
      const nextMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
      this.#spawn(number, nextMs).catch((error) => {
        if (this.#isStopping) return;
        this.options.log.error("thread start failed", { reason: (error as Error).message });
        this.#replace(number, nextMs);
      });
    }, pauseMs);
    this.#pauses.add(pause);
  }

  /** Asks every thread to finish what runs, waits, and terminates those that do not end in time. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#stopped ??= this.#stop();
  }

  async #stop(): Promise<void> {
    this.#isStopping = true;
    for (const pause of this.#pauses) clearTimeout(pause);
    const members = [...this.#members];
    for (const { thread } of members) thread.postMessage({ kind: "stop" } satisfies WorkerCommand);
    const ended = Promise.all(members.map(({ ended }) => ended.promise));
    await withTimeout(ended, STOP_MS, () => undefined);
    for (const { thread } of members) thread.terminate();
  }
}
