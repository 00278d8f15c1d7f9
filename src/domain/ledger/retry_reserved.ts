import { sleep } from "../../lib/timers.ts";
import type { Queries } from "../../platform/database/database.ts";
import { isRetryable } from "../../platform/database/storage_error.ts";

/** Nodes return a reserve at once; a little longer than that is enough while all of them are alive. */
const WAIT_MS = 1_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 200;
const SWEEP_SIZE = 100;

interface Booked {
  outcome: string;
  /** With `insufficient`: what is only reserved would be enough, and is free after so long, also if a node is dead. */
  retry_ms?: number | null;
}

interface RetryOptions {
  /** Longest time to wait. */
  limitMs?: number;
  signal?: AbortSignal | undefined;
}

/**
 * Repeats bookings that are refused only for money that nodes have reserved and not used: the refusal has asked them to
 * return it. The reserve of a dead node is returned when its lease has ended.
 */
export class ReservedRetry {
  readonly #pauses = new Map<string, Promise<void>>();

  constructor(private readonly sql: Queries) {}

  async run<T extends Booked>(
    account: string,
    book: () => Promise<T>,
    { limitMs = Infinity, signal }: RetryOptions = {},
  ): Promise<T> {
    let booked = await book();
    if (!mayRetry(booked)) return booked;
    const giveUpAt = performance.now() + Math.min(limitMs, WAIT_MS + booked.retry_ms!);
    let pauseMs = FIRST_PAUSE_MS;
    while (mayRetry(booked) && performance.now() < giveUpAt) {
      await this.#pause(account, pauseMs);
      signal?.throwIfAborted();
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      booked = await book();
    }
    return booked;
  }

  /** Shared by all that wait for an account: then their bookings share a statement too. */
  #pause(account: string, ms: number): Promise<void> {
    let pause = this.#pauses.get(account);
    if (pause === undefined) {
      pause = this.#sweepAfter(account, ms).finally(() => this.#pauses.delete(account));
      this.#pauses.set(account, pause);
    }
    return pause;
  }

  async #sweepAfter(account: string, ms: number): Promise<void> {
    await sleep(ms);
    try {
      await this.sql`select ledger_sweep_reserves(${SWEEP_SIZE}, ${account})`;
    } catch (error) {
      // The booking finds out what is wrong.
      if (!isRetryable(error)) throw error;
    }
  }
}

function mayRetry({ outcome, retry_ms }: Booked): boolean {
  return outcome === "insufficient" && typeof retry_ms === "number";
}

/** Returns reserves whose node has not renewed them. Any number of nodes may call it. */
export async function sweepReserves(sql: Queries): Promise<number> {
  let swept = 0;
  for (;;) {
    const [row] = await sql<
      [{ count: number }]
    >`select ledger_sweep_reserves(${SWEEP_SIZE}) as count`;
    swept += row.count;
    if (row.count < SWEEP_SIZE) return swept;
  }
}
