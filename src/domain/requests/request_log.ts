import { isRetryable } from "../../platform/database/storage_error.ts";
import { withTimeout } from "../../lib/timers.ts";
import type { OpenRequest, RequestSink } from "./open_request.ts";
import { toRequestRows } from "./request_row.ts";

/** Why rows are lost: too many waited, the database was away too long, or it refused them. */
export type DropReason = "full" | "away" | "refused";

export interface RequestLogLimits {
  /** Rows that may wait, and about how many bytes of memory they may take. */
  rowsMax: number;
  bytesMax: number;
  /** Rows of one statement. This many are written at once. */
  batchMax: number;
  /** How long the first row of a batch waits for others. */
  gatherMs: number;
  /** How long rows wait for a database that is away. */
  awayMs: number;
  /** How long closing waits for the last rows. */
  closeMs: number;
}

const LIMITS: RequestLogLimits = {
  rowsMax: 20_000,
  bytesMax: 32 * 1024 * 1024,
  batchMax: 500,
  gatherMs: 250,
  awayMs: 60_000,
  closeMs: 5_000,
};

export interface RequestLogOptions {
  /** Calls the SQL function `request_write_rows`. */
  write(batch: RequestBatch): Promise<unknown>;
  /** `isFirst`: the first loss for this reason since the log last worked. */
  onDrop(loss: { rows: number; reason: DropReason; isFirst: boolean; error?: unknown }): void;
  /** Called with every request that has ended, for metrics. */
  onEnd?(request: OpenRequest): void;
  limits?: Partial<RequestLogLimits>;
}

/** The arguments of the SQL function `request_write_rows`. */
export interface RequestBatch {
  readonly rows: string;
  /** Some of the rows were in a statement that failed, and may be written all the same. */
  readonly isRepeated: boolean;
}

/** Rows that a statement of the ledger takes along. */
export interface RowsAlong {
  /** The argument of the SQL function `request_write_along`. */
  readonly rows: string;
  /** Call once, when the statement has ended. Rows that are not written wait again. */
  end(isWritten: boolean): void;
}

/**
 * Gathers requests that have ended, behind the responses: no request waits for the log. Statements of the ledger take
 * the rows along; what none has taken after a moment is written in batches. What waits is bounded; rows beyond that are
 * lost and counted.
 */
export class RequestLog implements RequestSink, AsyncDisposable {
  #waiting: OpenRequest[] = [];
  #bytes = 0;
  /** How many of those that wait, the first ones, were in a statement that failed. */
  #tried = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | null = null;
  /** Ends of the statements under way that have taken rows along. */
  readonly #alongside = new Set<Promise<void>>();
  /** The write after the one under way. */
  #next: Promise<void> | null = null;
  #isClosed = false;
  /** Since when statements fail, as `performance.now()`; null while they succeed. */
  #failingSince: number | null = null;
  readonly #reported = new Set<DropReason>();
  readonly #limits: RequestLogLimits;

  constructor(private readonly options: RequestLogOptions) {
    this.#limits = { ...LIMITS, ...options.limits };
  }

  add(request: OpenRequest): void {
    this.options.onEnd?.(request);
    const { rowsMax, bytesMax, batchMax } = this.#limits;
    const bytes = bytesOf(request);
    if (this.#waiting.length >= rowsMax || this.#bytes + bytes > bytesMax) {
      return this.#drop(1, "full");
    }
    this.#waiting.push(request);
    this.#bytes += bytes;
    // While the database is away only the timer tries again.
    if (this.#waiting.length >= batchMax && this.#failingSince === null) void this.#flush();
    else this.#schedule();
  }

  /**
   * The oldest rows that wait, for a statement of the ledger; null if none do. Rows that were in a statement that failed
   * are left to statements of the log: they may be why it failed.
   */
  takeAlong(rowsMax: number): RowsAlong | null {
    if (this.#waiting.length === 0 || this.#tried > 0) return null;
    const requests = this.#take(Math.min(rowsMax, this.#limits.batchMax));
    if (this.#waiting.length === 0) this.#unschedule();
    const ended = Promise.withResolvers<void>();
    this.#alongside.add(ended.promise);
    return {
      rows: toRequestRows(requests),
      end: (isWritten) => {
        this.#alongside.delete(ended.promise);
        if (isWritten) this.#succeed();
        else {
          this.#returnWaiting(requests);
          this.#schedule();
        }
        ended.resolve();
      },
    };
  }

  /** Resolves when all rows of requests that have ended are written, or when writing them failed. */
  async flush(): Promise<void> {
    if (this.#alongside.size > 0) await Promise.all(this.#alongside);
    await this.#flush();
  }

  #flush(): Promise<void> {
    if (this.#writing === null) return this.#start();
    return this.#next ??= this.#writing.then(() => {
      this.#next = null;
      return this.#start();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const last = this.flush();
    this.#isClosed = true;
    await withTimeout(last, this.#limits.closeMs, () => undefined);
    const left = this.#waiting.splice(0).length;
    if (left > 0) this.#drop(left, "away");
  }

  #start(): Promise<void> {
    this.#unschedule();
    return this.#writing = this.#write(this.#waiting.length).then(() => {
      this.#writing = null;
    });
  }

  /** Later rows wait for the next time: they would leave in small batches. */
  async #write(rows: number): Promise<void> {
    for (let left = rows; left > 0; left -= this.#limits.batchMax) {
      if (this.#waiting.length === 0) return;
      const isRepeated = this.#tried > 0;
      const requests = this.#take(this.#limits.batchMax);
      try {
        await this.options.write({ rows: toRequestRows(requests), isRepeated });
        this.#succeed();
      } catch (error) {
        this.#fail(requests, error);
        if (this.#failingSince !== null) return;
      }
    }
  }

  /** The oldest rows that wait. */
  #take(rowsMax: number): OpenRequest[] {
    const requests = this.#waiting.splice(0, rowsMax);
    for (const request of requests) this.#bytes -= bytesOf(request);
    this.#tried = Math.max(0, this.#tried - requests.length);
    return requests;
  }

  /** Rows of a statement that failed wait again, before all others. */
  #returnWaiting(requests: readonly OpenRequest[]): void {
    this.#waiting = [...requests, ...this.#waiting];
    this.#tried += requests.length;
    for (const request of requests) this.#bytes += bytesOf(request);
  }

  #succeed(): void {
    this.#failingSince = null;
    this.#reported.delete("away");
    this.#reported.delete("refused");
    if (this.#waiting.length < this.#limits.rowsMax / 2) this.#reported.delete("full");
  }

  #fail(requests: readonly OpenRequest[], error: unknown): void {
    if (!isRetryable(error)) return this.#drop(requests.length, "refused", error);
    const now = performance.now();
    this.#failingSince ??= now;
    this.#returnWaiting(requests);
    if (now - this.#failingSince < this.#limits.awayMs) return this.#schedule();
    const lost = this.#waiting.splice(0);
    this.#bytes = this.#tried = 0;
    this.#drop(lost.length, "away", error);
  }

  #drop(rows: number, reason: DropReason, error?: unknown): void {
    const isFirst = !this.#reported.has(reason);
    this.#reported.add(reason);
    this.options.onDrop({ rows, reason, isFirst, error });
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#flush(), this.#limits.gatherMs);
    Deno.unrefTimer(this.#timer as unknown as number);
  }

  #unschedule(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** About what a row takes in memory at most, apart from its metadata and attempts. */
const ROW_BYTES = 1_200;
const ATTEMPT_BYTES = 100;
/** Of a short name with its value, which `noteBody` limits. */
const PAIR_BYTES = 600;

function bytesOf({ metadata, attempts }: OpenRequest): number {
  const pairs = metadata === null ? 0 : Object.keys(metadata).length;
  return ROW_BYTES + attempts.length * ATTEMPT_BYTES + pairs * PAIR_BYTES;
}
