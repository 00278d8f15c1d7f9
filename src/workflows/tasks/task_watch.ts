import type { TaskRow } from "./task.ts";

/** What tells two states of a task apart. */
export type TaskVersion = Pick<TaskRow, "id" | "status" | "updated_at">;

export interface TaskWatchOptions {
  /** The versions of these tasks now, in one statement; what is gone is left out. */
  versions(ids: readonly string[]): Promise<TaskVersion[]>;
  /** These tasks, in one statement. */
  rows(ids: readonly string[]): Promise<TaskRow[]>;
  /** Tells the other nodes that this one has changed a task. */
  announce?(id: string): void;
  /** How long a change made by another node stays unseen if its announcement is lost. */
  pollMs?: number;
}

const POLL_MS = 1_000;

interface Waiter {
  readonly seen: string;
  tell(row: TaskRow | null): void;
}

/**
 * Tells requests that wait for a task that it changed. All of them share two statements: one now and then
 * that asks for the versions of every task that is waited for, and one for the tasks that changed.
 */
export class TaskWatch {
  readonly #waiting = new Map<string, Set<Waiter>>();
  /** Steps that run here, by their task. */
  readonly #steps = new Map<string, () => void>();
  /** Tasks that are known to have changed since the last look. */
  readonly #changed = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the next round is due: announcements must not put it off, since some are lost. */
  #roundAt = 0;
  #isLooking = false;

  constructor(private readonly options: TaskWatchOptions) {}

  /** This process has changed the task. */
  changed(id: string): void {
    this.options.announce?.(id);
    this.noticeChange(id);
  }

  /** The task has changed: requests that wait for it here need not wait for the next look. */
  noticeChange(id: string): void {
    this.#steps.get(id)?.();
    if (!this.#waiting.has(id)) return;
    this.#changed.add(id);
    this.#schedule();
  }

  /** Calls `onChange` when a task is known to have changed, until disposed: for the step that works on it. */
  watchStep(id: string, onChange: () => void): Disposable {
    this.#steps.set(id, onChange);
    return { [Symbol.dispose]: () => this.#steps.delete(id) };
  }

  /** The task when it is no longer as it was seen; null after `ms`, or when `signal` aborts. */
  next(seen: TaskVersion, ms: number, signal: AbortSignal): Promise<TaskRow | null> {
    if (signal.aborted) return Promise.resolve(null);
    return new Promise((resolve) => {
      const waiters = this.#waiting.get(seen.id) ?? new Set();
      this.#waiting.set(seen.id, waiters);
      const waiter: Waiter = {
        seen: nameOf(seen),
        tell: (row) => {
          clearTimeout(timer);
          signal.removeEventListener("abort", leave);
          waiters.delete(waiter);
          if (waiters.size === 0) this.#waiting.delete(seen.id);
          if (this.#waiting.size === 0) this.#stop();
          resolve(row);
        },
      };
      const leave = () => waiter.tell(null);
      const timer = setTimeout(leave, ms);
      waiters.add(waiter);
      signal.addEventListener("abort", leave);
      if (this.#timer === undefined) {
        this.#planRound();
        this.#schedule();
      }
    });
  }

  #planRound(): void {
    this.#roundAt = performance.now() + (this.options.pollMs ?? POLL_MS);
  }

  #schedule(): void {
    if (this.#isLooking) return;
    clearTimeout(this.#timer);
    const ms = this.#changed.size > 0 ? 0 : Math.max(0, this.#roundAt - performance.now());
    this.#timer = setTimeout(() => void this.#look(), ms);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#changed.clear();
  }

  /** Looks at the tasks that are known to have changed; in a round, at all that are waited for. */
  async #look(): Promise<void> {
    this.#isLooking = true;
    const isRound = performance.now() >= this.#roundAt;
    // Taken at once: what is announced from here on may be newer than what is read.
    const known = [...this.#changed];
    this.#changed.clear();
    try {
      const ids = isRound ? await this.#differing(known) : known;
      if (ids.length > 0) {
        for (const row of await this.options.rows(ids)) this.#tell(row);
      }
    } catch {
      // The database is away for a moment: the next round finds what changed.
    }
    this.#isLooking = false;
    if (isRound) this.#planRound();
    if (this.#waiting.size > 0) this.#schedule();
    else this.#stop();
  }

  /** The tasks that are known to have changed, and those that a look shows to have. */
  async #differing(known: readonly string[]): Promise<string[]> {
    const versions = await this.options.versions([...this.#waiting.keys()]);
    const others = versions.filter((version) => {
      const name = nameOf(version);
      return [...this.#waiting.get(version.id) ?? []].some(({ seen }) => seen !== name);
    });
    return [...new Set([...known, ...others.map(({ id }) => id)])];
  }

  #tell(row: TaskRow): void {
    const name = nameOf(row);
    for (const waiter of [...this.#waiting.get(row.id) ?? []]) {
      if (waiter.seen !== name) waiter.tell(row);
    }
  }
}

function nameOf({ updated_at, status }: TaskVersion): string {
  return `${updated_at.getTime()} ${status}`;
}
