import { retryFor } from "../../platform/database/retry_for.ts";
import { isRetryable } from "../../platform/database/storage_error.ts";
import type { Database, Queries } from "../../platform/database/database.ts";
import { type LogRows, openBatch } from "./batch.ts";
import type { Resolver } from "./hold.ts";
import type { HoldRenewer } from "./hold_renewer.ts";
import { type Item, type Outcome, runItem, runLate } from "./item.ts";
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

/** Where an item is executed: in a statement shared with others, or in a transaction of the caller. */
export interface Execution {
  run(item: Item): Promise<Outcome>;
  runLate(item: Item): Promise<Outcome>;
}

export function executeIn(sql: Queries): Execution {
  return { run: (item) => runItem(sql, item), runLate: (item) => runLate(sql, item) };
}

/** A shortfall is recorded only if nodes have not returned enough of what they have only reserved for so long. */
const SHORTFALL_WAIT_MS = 1_000;

/** Executes items of the ledger, and reads what became of them. */
export class Bookings {
  /** Items that arrive together share a statement. */
  readonly together: Execution;
  readonly pending: PendingSettlements;
  readonly reservedRetry: ReservedRetry;

  constructor(private readonly options: Options) {
    const batch = openBatch(options.database.sql, options.logRows);
    const { runLate } = executeIn(options.database.sql);
    this.together = { run: (item) => batch.add(item), runLate };
    this.reservedRetry = new ReservedRetry(options.database.sql);
    this.pending = new PendingSettlements({
      settle: (item) => this.settle(this.together, item),
      drop: (id) => options.renewer.delete(id),
      ...options.pending,
    });
  }

  /** A hold that a sweeper has resolved meanwhile is settled anyway; that corrects the receipt. */
  async settle(
    execution: Execution,
    item: Item,
    onBooked?: (outcome: Outcome) => void,
  ): Promise<Resolution> {
    const { run, runLate } = execution;
    const isShared = execution === this.together;
    const outcome = await (isShared ? this.#settleTogether(item) : run(item));
    onBooked?.(outcome);
    const resolution = this.read(outcome);
    if (resolution.isFirst || resolution.state === "released") return resolution;
    return this.read(await runLate(item));
  }

  async #settleTogether(item: Item): Promise<Outcome> {
    const { run } = this.together;
    item.may_wait = true;
    const account = item.account_id ?? item.id;
    const outcome = await this.reservedRetry.run(account, () => run(item), {
      limitMs: SHORTFALL_WAIT_MS,
    });
    if (outcome.outcome !== "insufficient") return outcome;
    item.may_wait = false;
    return await run(item);
  }

  read(outcome: Outcome): Resolution {
    const { renewer, onExceeded } = this.options;
    const resolution = readResolution(outcome);
    renewer.delete(resolution.id);
    if (resolution.isFirst && resolution.isBeyondHold) onExceeded(resolution);
    return resolution;
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

/** Resolves holds that stand in the database. */
export function holdResolver(bookings: Bookings, renewer: HoldRenewer): Resolver {
  const { together } = bookings;
  const resolver: Resolver = {
    settle: (id, charge, account) => bookings.settle(together, settleItem(id, charge, account)),
    async settleAgain(id, charge, account, { error, waitMs }) {
      try {
        return await retryFor(waitMs, error, () => resolver.settle(id, charge, account));
      } catch (error) {
        renewer.delete(id);
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
      return bookings.read(await together.run(releaseItem(id, account)));
    },
    checkpoint: async (id, charge, account) =>
      readCheckpoint(await together.run(checkpointItem(id, charge, account))),
  };
  return resolver;
}
