import { isStorageDown } from "../database/storage_error.ts";
import type { JobHandler, JobMessage, NextStep } from "./queue.ts";
import { sleep } from "../../lib/timers.ts";
import type { Log } from "../telemetry/log.ts";

export interface RunnerOptions {
  workers: ReadonlyMap<string, JobHandler>;
  /** A step asks to be looked at again. */
  again(message: JobMessage, delayMs: number): void;
  /** A step took so long and ended so. */
  onStep?(kind: string, ms: number, outcome: "done" | "again" | "broke"): void;
  log: Pick<Log, "warn" | "error">;
}

/** How often rows are looked for whose bell was lost. */
const SWEEP_MS = 5_000;
/** More than this waits in Postgres just as well. */
const WAITING_MAX = 10_000;
const STEP_PATIENCE_MS = 17_000;
const LOOK_MS = 250;
const SWEEP_STALE_MS = 30_000;

/** The steps of one kind that wait and run in this process. */
class Lane {
  readonly waiting = new Set<string>();
  readonly running = new Set<string>();
  /** Run, and have left their slot to others. */
  readonly slotless = new Set<string>();
  /** Rung while they ran: somebody changed something they may not have seen. */
  readonly rungAgain = new Set<string>();
  /** Who waits for the end of a step. */
  readonly onEnd = new Map<string, () => void>();

  constructor(readonly kind: string, readonly worker: JobHandler) {}

  get hasRoom(): boolean {
    return this.running.size - this.slotless.size < this.worker.slots;
  }

  end(id: string): void {
    this.onEnd.get(id)?.();
    this.onEnd.delete(id);
  }
}

/**
 * Runs steps, so many at once and each id once, and sweeps up what no bell announced. Every driver of the
 * queue has one; the drivers differ only in who rings.
 */
export class Runner implements AsyncDisposable {
  readonly #lanes: ReadonlyMap<string, Lane>;
  readonly #stop = new AbortController();
  #isClosed = false;
  #sweeper: ReturnType<typeof setTimeout> | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #sweptAt = performance.now();
  #sweepFailure: string | null = null;
  #idle: (() => void) | null = null;

  constructor(private readonly options: RunnerOptions) {
    this.#lanes = new Map(
      [...options.workers].map(([kind, worker]) => [kind, new Lane(kind, worker)]),
    );
    this.#plan(0);
  }

  /** Takes a message unless there is too much already. What it drops, the sweeper finds again. */
  offer({ kind, id }: JobMessage): boolean {
    const lane = this.#lanes.get(kind);
    if (lane === undefined || this.#isClosed) return false;
    if (lane.running.has(id)) {
      lane.rungAgain.add(id);
      return true;
    }
    if (lane.waiting.size >= WAITING_MAX) return false;
    lane.waiting.add(id);
    this.#fill(lane);
    return true;
  }

  /** Takes a message and waits for the end of its step; not when it was dropped or runs already. */
  perform(message: JobMessage): Promise<void> {
    const lane = this.#lanes.get(message.kind);
    const isRunning = lane?.running.has(message.id) ?? true;
    if (!this.offer(message) || isRunning || lane!.onEnd.has(message.id)) return Promise.resolve();
    return new Promise((resolve) => lane!.onEnd.set(message.id, resolve));
  }

  /** Whether a message would be worked on at once. */
  hasRoom(kind: string): boolean {
    const lane = this.#lanes.get(kind);
    return lane !== undefined && !this.#isClosed && lane.hasRoom;
  }

  depth(): { kind: string; waiting: number; running: number }[] {
    return [...this.#lanes.values()].map(({ kind, waiting, running }) => ({
      kind,
      waiting: waiting.size,
      running: running.size,
    }));
  }

  /** Why lost bells would not be made good now. */
  ailment(): string | null {
    if (this.#sweepFailure !== null) return this.#sweepFailure;
    return performance.now() - this.#sweptAt > SWEEP_STALE_MS
      ? "nobody has looked for due work for a while"
      : null;
  }

  #fill(lane: Lane): void {
    for (const id of lane.waiting) {
      if (this.#isClosed || !lane.hasRoom) return;
      lane.waiting.delete(id);
      lane.running.add(id);
      void this.#run(lane, id);
    }
  }

  async #run(lane: Lane, id: string): Promise<void> {
    const startedAt = performance.now();
    let next: NextStep | null = null;
    const leaveSlot = () => {
      lane.slotless.add(id);
      lane.end(id);
      this.#fill(lane);
    };
    try {
      next = await lane.worker.step(id, this.#stop.signal, leaveSlot);
    } catch (error) {
      // While the database is away everybody says so already; the sweeper comes back to it.
      if (!isStorageDown(error)) {
        this.options.log.error("a step of the queue broke", { kind: lane.kind, id, error });
      }
    }
    lane.running.delete(id);
    lane.slotless.delete(id);
    lane.end(id);
    this.options.onStep?.(
      lane.kind,
      performance.now() - startedAt,
      next === null ? "broke" : next === "done" ? "done" : "again",
    );
    const wasRung = lane.rungAgain.delete(id);
    if (wasRung || (next !== null && next !== "done" && next.againInMs <= 0)) {
      this.offer({ kind: lane.kind, id });
    } else if (next !== null && next !== "done") {
      this.options.again({ kind: lane.kind, id }, next.againInMs);
    }
    this.#fill(lane);
    if (this.#isQuiet()) this.#idle?.();
  }

  #plan(delayMs: number): void {
    this.#sweeper = setTimeout(() => this.#sweeping = this.#sweep(), delayMs);
  }

  async #sweep(): Promise<void> {
    const isMore = await this.#look() === "more";
    if (!this.#isClosed) this.#plan(isMore ? SWEEP_MS / 20 : SWEEP_MS);
  }

  async catchUp(patienceMs: number): Promise<void> {
    const until = performance.now() + patienceMs;
    while (!this.#isClosed && performance.now() < until) {
      const found = await this.#look();
      if (found === "nothing" && this.#isQuiet()) return;
      await sleep(LOOK_MS);
    }
  }

  /** Takes a page of what is due. */
  async #look(): Promise<"nothing" | "some" | "more"> {
    let [isMore, isSome] = [false, false];
    try {
      for (const lane of this.#lanes.values()) {
        // One page of what fits beside that which waits already.
        const page = lane.worker.slots * 4;
        if (lane.waiting.size >= page) continue;
        const ids = await lane.worker.due(page);
        for (const id of ids) {
          if (!lane.running.has(id)) this.offer({ kind: lane.kind, id });
        }
        isSome ||= ids.length > 0;
        isMore ||= ids.length >= page;
      }
      this.#sweptAt = performance.now();
      this.#sweepFailure = null;
    } catch (error) {
      this.#sweepFailure = "due work cannot be looked for";
      if (!isStorageDown(error)) {
        this.options.log.error("cannot look for due work", { error });
      }
    }
    return isMore ? "more" : isSome ? "some" : "nothing";
  }

  #isQuiet(): boolean {
    return [...this.#lanes.values()].every(({ running }) => running.size === 0);
  }

  /** Takes no more, lets what runs finish for a while, then tells it to stop and hand back its rows. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#sweeper);
    await this.#sweeping;
    clearTimeout(this.#sweeper);
    for (const lane of this.#lanes.values()) {
      for (const id of lane.waiting) lane.end(id);
      lane.waiting.clear();
    }
    if (this.#isQuiet()) return;
    const quiet = new Promise<void>((resolve) => this.#idle = resolve);
    const timer = setTimeout(() => this.#stop.abort(), STEP_PATIENCE_MS);
    const end = setTimeout(() => this.#idle?.(), STEP_PATIENCE_MS + 2_000);
    await quiet;
    clearTimeout(timer);
    clearTimeout(end);
  }
}
