import { isRetryable, isStorageDown } from "../../platform/database/storage_error.ts";
import type { Item } from "./item.ts";
import {
  type JournalFile,
  readJournals,
  retireJournal,
  writeJournal,
  writeJournalSync,
} from "./settlement_journal.ts";
import { withTimeout } from "../../lib/timers.ts";
import type { Log } from "../../platform/telemetry/log.ts";

export interface PendingOptions {
  /** A folder on the local disk, for the case that the process ends first. Unset: settlements stay in memory. */
  folder?: string | undefined;
  log?: Pick<Log, "info" | "warn" | "error">;
  /** The first pause between two attempts; it doubles up to `retryMaxMs`. */
  retryMs?: number;
  retryMaxMs?: number;
  countMax?: number;
  bytesMax?: number;
  /** How long the end of the process waits for a last attempt. */
  closeMs?: number;
}

interface Deps {
  settle(item: Item): Promise<unknown>;
  /** Called with a hold whose settlement failed finally. */
  drop(id: string): void;
}

interface Pending {
  readonly item: Item;
  readonly bytes: number;
  /** Its location on the disk; null: in memory only. */
  source: JournalFile | null;
}

const DEFAULTS = {
  retryMs: 100,
  retryMaxMs: 2_000,
  countMax: 20_000,
  bytesMax: 16 * 1024 * 1024,
  closeMs: 2_000,
};

/**
 * Settlements of responses that clients have, kept while the database is away and retried until it is back:
 * a settlement may be repeated any number of times. What waits longer than a moment, or when the process ends,
 * goes to the disk, and the next process settles it.
 */
export class PendingSettlements implements AsyncDisposable {
  readonly #waiting = new Map<string, Pending>();
  readonly #options;
  #bytes = 0;
  #settled = 0;
  #pauseMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** Logged once per outage. */
  #cannotSave = false;

  constructor(private readonly deps: Deps & PendingOptions) {
    this.#options = { ...DEFAULTS, ...deps };
    this.#pauseMs = this.#options.retryMs;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Takes over a settlement. False: the queue is full. */
  add(item: Item): boolean {
    if (this.#isClosed) return this.#writeDown([item]);
    const bytes = JSON.stringify(item).length;
    const { countMax, bytesMax } = this.#options;
    if (this.#waiting.size >= countMax || this.#bytes + bytes > bytesMax) return false;
    if (this.#waiting.size === 0) this.deps.log?.warn("settlements wait for the database");
    this.#keep({ item, bytes, source: null });
    return true;
  }

  /** Takes over settlements that earlier processes left on the disk. */
  replay(): void {
    const { folder } = this.#options;
    if (folder === undefined) return;
    try {
      for (const journal of readJournals(folder)) this.#takeOver(journal);
    } catch (error) {
      this.deps.log?.error("settlement journals cannot be read", { folder, error });
    }
  }

  #takeOver(journal: JournalFile): void {
    const { path: file, items, damaged } = journal;
    this.deps.log?.[damaged > 0 ? "error" : "info"]("settlement journal found", {
      file,
      settlements: items.length,
      damaged_lines: damaged,
    });
    // The limits are for new settlements: these were within them when they were written.
    for (const item of items) this.#keep({ item, bytes: 0, source: journal });
    if (items.length === 0) retireJournal(journal);
  }

  #keep(pending: Pending): void {
    this.#waiting.set(pending.item.id, pending);
    this.#bytes += pending.bytes;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#round = this.#tryAll().finally(() => {
        this.#timer = undefined;
        if (this.#waiting.size > 0) this.#schedule();
      });
    }, this.#pauseMs);
  }

  async #tryAll(): Promise<void> {
    const [first, ...others] = this.#waiting.values();
    if (first === undefined) return;
    // One attempt shows whether the database is back; the others then share statements.
    const isAway = await this.#try(first);
    if (isAway) {
      this.#pauseMs = Math.min(this.#pauseMs * 2, this.#options.retryMaxMs);
      // Next time another account's, in case only this one fails.
      if (this.#waiting.delete(first.item.id)) this.#waiting.set(first.item.id, first);
      await this.#save();
      return;
    }
    await Promise.all(others.map((pending) => this.#try(pending)));
    this.#pauseMs = this.#options.retryMs;
    if (this.#waiting.size > 0 || this.#settled === 0) return;
    this.deps.log?.info("settlements completed after the database was away", {
      settlements: this.#settled,
    });
    this.#settled = 0;
    this.#cannotSave = false;
  }

  /** Writes settlements that are in memory only to the disk, in case the process is killed. */
  async #save(): Promise<void> {
    const { folder } = this.#options;
    const unsaved = this.#unsaved();
    if (folder === undefined || unsaved.length === 0 || this.#isClosed || this.#cannotSave) return;
    try {
      const journal = await writeJournal(folder, unsaved.map(({ item }) => item));
      for (const pending of unsaved) pending.source = journal;
    } catch (error) {
      this.#cannotSave = true;
      this.deps.log?.error("settlements kept in memory only, the disk cannot be written", {
        error,
      });
    }
  }

  #unsaved(): Pending[] {
    return [...this.#waiting.values()].filter(({ source }) => source === null);
  }

  /** True if the database is away. */
  async #try(pending: Pending): Promise<boolean> {
    const { id } = pending.item;
    try {
      await this.deps.settle(pending.item);
      this.#settled++;
    } catch (error) {
      if (isRetryable(error)) return isStorageDown(error);
      this.deps.log?.error("settlement failed, the last checkpoint counts", {
        request_id: id,
        error,
      });
      this.deps.drop(id);
      if (pending.source !== null) pending.source.failed++;
    }
    this.#remove(pending);
    return false;
  }

  #remove(pending: Pending): void {
    const { item, bytes, source } = pending;
    if (this.#waiting.get(item.id) === pending) this.#waiting.delete(item.id);
    this.#bytes -= bytes;
    if (source === null || --source.left > 0) return;
    try {
      retireJournal(source);
    } catch (error) {
      // It is settled again at the next start, which changes nothing.
      this.deps.log?.error("settlement journal not removed", { file: source.path, error });
    }
  }

  /** Tries once more, for a short time, and writes what still waits to the disk. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const lastTry = this.#round.then(() => this.#tryAll());
    await withTimeout(lastTry, this.#options.closeMs, () => undefined);
    if (this.#waiting.size === 0) return;
    const unsaved = this.#unsaved();
    if (unsaved.length > 0 && !this.#writeDown(unsaved.map(({ item }) => item))) return;
    this.deps.log?.warn("settlements are on disk, the next start settles them", {
      settlements: this.#waiting.size,
      folder: this.#options.folder,
    });
  }

  #writeDown(items: readonly Item[]): boolean {
    const { folder } = this.#options;
    const fields = { settlements: items.length };
    if (folder === undefined) {
      this.deps.log?.error("settlements lost at shutdown, their last checkpoints count", fields);
      return false;
    }
    try {
      writeJournalSync(folder, items);
      return true;
    } catch (error) {
      this.deps.log?.error("settlements lost at shutdown, their last checkpoints count", {
        ...fields,
        error,
      });
      return false;
    }
  }
}
