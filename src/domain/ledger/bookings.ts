import type { GroupCommit } from "../../lib/group_commit.ts";
import { retryFor } from "../../platform/database/retry_for.ts";
import { isRetryable } from "../../platform/database/storage_error.ts";
import type { Database } from "../../platform/database/database.ts";
import { type LogRows, openBatch } from "./batch.ts";
import type { Resolver } from "./hold.ts";
import type { HoldRenewer } from "./hold_renewer.ts";
import { type Item, type Outcome, runLate } from "./item.ts";
import { type PendingOptions, PendingSettlements } from "./pending_settlements.ts";
import { releaseItem } from "./release.ts";
import { ReservedRetry } from "./retry_reserved.ts";
import {
  checkpointItem,
  readCheckpoint,
  readResolution,
  type Resolution,
  settleItem,
} from "./settle.ts";

interface Options {
  database: Database;
  renewer: HoldRenewer;
  onExceeded(resolution: Resolution): void;
  pending?: PendingOptions | undefined;
  logRows?: LogRows | undefined;
}

/** A shortfall is recorded only if nodes have not returned enough of what they have only reserved for so long. */
const SHORTFALL_WAIT_MS = 1_000;

/** Executes items of the ledger, and reads what became of them. */
export class Bookings {
  readonly pending: PendingSettlements;
  readonly reservedRetry: ReservedRetry;
  readonly #batch: GroupCommit<Item, Outcome>;

  constructor(private readonly options: Options) {
    this.#batch = openBatch(options.database.sql, options.logRows);
    this.reservedRetry = new ReservedRetry(options.database.sql);
    this.pending = new PendingSettlements({
      settle: (item) => item.op === "void" ? this.#void(item) : this.settle(item),
      drop: (id) => options.renewer.delete(id),
      ...options.pending,
    });
  }

  /** Items that arrive together share a statement. */
  run(item: Item): Promise<Outcome> {
    return this.#batch.add(item);
  }

  /** A hold that a sweeper has resolved meanwhile is settled anyway; that corrects the receipt. */
  async settle(item: Item, onBooked?: (outcome: Outcome) => void): Promise<Resolution> {
    const outcome = await this.#waitForReserved(item, (mayWait) => {
      item.may_wait = mayWait;
      return this.run(item);
    });
    onBooked?.(outcome);
    const resolution = this.read(outcome);
    if (resolution.isFirst || resolution.state === "released") return resolution;
    const { sql } = this.options.database;
    return this.read(await this.#waitForReserved(item, (mayWait) => runLate(sql, item, mayWait)));
  }

  /** Settles in any case: when it has waited long enough, with a shortfall. */
  async #waitForReserved(
    { account_id, id }: Item,
    settle: (mayWait: boolean) => Promise<Outcome>,
  ): Promise<Outcome> {
    const outcome = await this.reservedRetry.run(account_id ?? id, () => settle(true), {
      limitMs: SHORTFALL_WAIT_MS,
    });
    return outcome.outcome === "insufficient" ? await settle(false) : outcome;
  }

  read(outcome: Outcome): Resolution {
    const { renewer, onExceeded } = this.options;
    const resolution = readResolution(outcome);
    renewer.delete(resolution.id);
    if (resolution.isFirst && resolution.isBeyondHold) onExceeded(resolution);
    return resolution;
  }

  /**
   * For a settlement that failed and whose client gets an error: it may have reached the database all the same, or reach
   * it later. As soon as the database is back the request is made to cost nothing.
   */
  giveUp(item: Item): void {
    this.pending.add({ ...item, op: "void" });
  }

  async #void(item: Item): Promise<void> {
    const { isFirst, state } = this.read(await this.run(withoutCharge(item)));
    if (isFirst || state !== "settled") return;
    await runLate(this.options.database.sql, item);
  }

  /** Settles now, or hands the settlement of a response that the client has to `pending`. */
  async settleDelivered(
    itemOf: () => Item,
    settle: () => Promise<Resolution>,
  ): Promise<Resolution | null> {
    try {
      return await settle();
    } catch (error) {
      const item = itemOf();
      if (isRetryable(error) && this.pending.add(item)) return null;
      this.options.renewer.delete(item.id);
      throw error;
    }
  }
}

/** The same request, which costs nothing. */
function withoutCharge(item: Item): Item {
  // Without a time it is the settlement of a hold.
  if (item.begun_at === undefined) return releaseItem(item.id, item.account_id);
  const free: Item = { ...item, op: "charge" };
  for (const field of ["num", "den", "units", "usage", "upstream", "cost"] as const) {
    delete free[field];
  }
  return free;
}

/** Resolves holds that stand in the database. */
export function holdResolver(bookings: Bookings, renewer: HoldRenewer): Resolver {
  const resolver: Resolver = {
    settle: (id, charge, account) => bookings.settle(settleItem(id, charge, account)),
    async settleAgain(id, charge, account, { error, waitMs }) {
      try {
        return await retryFor(waitMs, error, () => resolver.settle(id, charge, account));
      } catch (error) {
        renewer.delete(id);
        bookings.giveUp(settleItem(id, charge, account));
        throw error;
      }
    },
    settleDelivered: (id, charge, account) =>
      bookings.settleDelivered(
        () => settleItem(id, charge, account),
        () => resolver.settle(id, charge, account),
      ),
    async release(id, account) {
      renewer.delete(id);
      return bookings.read(await bookings.run(releaseItem(id, account)));
    },
    checkpoint: async (id, charge, account) =>
      readCheckpoint(await bookings.run(checkpointItem(id, charge, account))),
  };
  return resolver;
}
