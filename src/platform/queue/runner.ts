import { isStorageDown } from "../database/storage_error.ts";
import type { JobHandler, JobMessage, NextStep } from "./queue.ts";
import { sleep } from "../../lib/timers.ts";
import type { Log } from "../telemetry/log.ts";

export interface RunnerOptions {
  handlers: ReadonlyMap<string, JobHandler>;
  /** A step is to run again later. */
  requeue(message: JobMessage, delayMs: number): void;
  /** Called after each step. */
  onStep?(kind: string, ms: number, outcome: "done" | "again" | "failed"): void;
  log: Pick<Log, "warn" | "error">;
}

/** How often due rows are searched whose notification was lost. */
const SWEEP_MS = 5_000;
/** Beyond this, messages are dropped: their rows wait in Postgres. */
const WAITING_MAX = 10_000;
const STEP_STOP_MS = 17_000;
const POLL_MS = 250;
const SWEEP_STALE_MS = 30_000;

/** The steps of one kind that wait and run in this process. */
class JobKind {
  readonly waiting = new Set<string>();
  readonly running = new Set<string>();
  /** Running, but without a slot: `leaveSlot` was called. */
  readonly slotless = new Set<string>();
  /** Notified while they ran: a change may have come after they read their row. */
  readonly requeue = new Set<string>();
  /** Called at the end of a step. */
  readonly onEnd = new Map<string, () => void>();

  constructor(readonly kind: string, readonly handler: JobHandler) {}

  get hasRoom(): boolean {
    return this.running.size - this.slotless.size < this.handler.slots;
  }

  end(id: string): void {
    this.onEnd.get(id)?.();
    this.onEnd.delete(id);
  }
}

/**
 * Runs steps, a limited number at once and each id once, and sweeps for due rows without a notification. Every
 * queue driver has one; the drivers differ only in how they notify.
 */
export class Runner implements AsyncDisposable {
  readonly #kinds: ReadonlyMap<string, JobKind>;
  readonly #stop = new AbortController();
  #isClosed = false;
  #sweepTimer: ReturnType<typeof setTimeout> | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #sweptAt = performance.now();
  #sweepFailure: string | null = null;
  #idle: (() => void) | null = null;

  constructor(private readonly options: RunnerOptions) {
    this.#kinds = new Map(
      [...options.handlers].map(([kind, handler]) => [kind, new JobKind(kind, handler)]),
    );
    this.#scheduleSweep(0);
  }

  /** Takes a message unless too many wait. The sweeper finds the rows of those it drops. */
  offer({ kind, id }: JobMessage): boolean {
    const jobKind = this.#kinds.get(kind);
    if (jobKind === undefined || this.#isClosed) return false;
    if (jobKind.running.has(id)) {
      jobKind.requeue.add(id);
      return true;
    }
    if (jobKind.waiting.size >= WAITING_MAX) return false;
    jobKind.waiting.add(id);
    this.#fill(jobKind);
    return true;
  }

  /** Takes a message and waits for the end of its step; returns at once if it was dropped or runs already. */
  perform(message: JobMessage): Promise<void> {
    const jobKind = this.#kinds.get(message.kind);
    const isRunning = jobKind?.running.has(message.id) ?? true;
    if (!this.offer(message) || isRunning || jobKind!.onEnd.has(message.id)) return Promise.resolve();
    return new Promise((resolve) => jobKind!.onEnd.set(message.id, resolve));
  }

  /** Whether a step of this kind would start at once. */
  hasRoom(kind: string): boolean {
    const jobKind = this.#kinds.get(kind);
    return jobKind !== undefined && !this.#isClosed && jobKind.hasRoom;
  }

  depth(): { kind: string; waiting: number; running: number }[] {
    return [...this.#kinds.values()].map(({ kind, waiting, running }) => ({
      kind,
      waiting: waiting.size,
      running: running.size,
    }));
  }

  /** Why rows whose notification was lost would not be found now. */
  problem(): string | null {
    if (this.#sweepFailure !== null) return this.#sweepFailure;
    return performance.now() - this.#sweptAt > SWEEP_STALE_MS
      ? "due jobs have not been searched for a while"
      : null;
  }

  #fill(jobKind: JobKind): void {
    for (const id of jobKind.waiting) {
      if (this.#isClosed || !jobKind.hasRoom) return;
      jobKind.waiting.delete(id);
      jobKind.running.add(id);
      void this.#run(jobKind, id);
    }
  }

  async #run(jobKind: JobKind, id: string): Promise<void> {
    const startedAt = performance.now();
    let next: NextStep | null = null;
    const leaveSlot = () => {
      jobKind.slotless.add(id);
      jobKind.end(id);
      this.#fill(jobKind);
    };
    try {
      next = await jobKind.handler.step(id, this.#stop.signal, leaveSlot);
    } catch (error) {
      // A database outage is reported by the readiness probe; the sweeper retries.
      if (!isStorageDown(error)) {
        this.options.log.error("job step failed", { kind: jobKind.kind, id, error });
      }
    }
    jobKind.running.delete(id);
    jobKind.slotless.delete(id);
    jobKind.end(id);
    this.options.onStep?.(
      jobKind.kind,
      performance.now() - startedAt,
      next === null ? "failed" : next === "done" ? "done" : "again",
    );
    const mustRequeue = jobKind.requeue.delete(id);
    if (mustRequeue || (next !== null && next !== "done" && next.againInMs <= 0)) {
      this.offer({ kind: jobKind.kind, id });
    } else if (next !== null && next !== "done") {
      this.options.requeue({ kind: jobKind.kind, id }, next.againInMs);
    }
    this.#fill(jobKind);
    if (this.#isQuiet()) this.#idle?.();
  }

  #scheduleSweep(delayMs: number): void {
    this.#sweepTimer = setTimeout(() => this.#sweeping = this.#sweep(), delayMs);
  }

  async #sweep(): Promise<void> {
    const isMore = await this.#offerDue() === "more";
    if (!this.#isClosed) this.#scheduleSweep(isMore ? SWEEP_MS / 20 : SWEEP_MS);
  }

  async catchUp(maxMs: number): Promise<void> {
    const until = performance.now() + maxMs;
    while (!this.#isClosed && performance.now() < until) {
      const found = await this.#offerDue();
      if (found === "nothing" && this.#isQuiet()) return;
      await sleep(POLL_MS);
    }
  }

  /** Offers a page of due rows. */
  async #offerDue(): Promise<"nothing" | "some" | "more"> {
    let [isMore, isSome] = [false, false];
    try {
      for (const jobKind of this.#kinds.values()) {
        // A page is four times what runs at once.
        const page = jobKind.handler.slots * 4;
        if (jobKind.waiting.size >= page) continue;
        const ids = await jobKind.handler.due(page);
        for (const id of ids) {
          if (!jobKind.running.has(id)) this.offer({ kind: jobKind.kind, id });
        }
        isSome ||= ids.length > 0;
        isMore ||= ids.length >= page;
      }
      this.#sweptAt = performance.now();
      this.#sweepFailure = null;
    } catch (error) {
      this.#sweepFailure = "due jobs cannot be searched";
      if (!isStorageDown(error)) {
        this.options.log.error("search for due jobs failed", { error });
      }
    }
    return isMore ? "more" : isSome ? "some" : "nothing";
  }

  #isQuiet(): boolean {
    return [...this.#kinds.values()].every(({ running }) => running.size === 0);
  }

  /** Takes no more, lets running steps finish for a while, then aborts them so that they release their rows. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#sweepTimer);
    await this.#sweeping;
    clearTimeout(this.#sweepTimer);
    for (const jobKind of this.#kinds.values()) {
      for (const id of jobKind.waiting) jobKind.end(id);
      jobKind.waiting.clear();
    }
    if (this.#isQuiet()) return;
    const quiet = new Promise<void>((resolve) => this.#idle = resolve);
    const timer = setTimeout(() => this.#stop.abort(), STEP_STOP_MS);
    const end = setTimeout(() => this.#idle?.(), STEP_STOP_MS + 2_000);
    await quiet;
    clearTimeout(timer);
    clearTimeout(end);
  }
}
