import type { Funds } from "../pricing/funds.ts";
import type { Charge } from "../pricing/quote.ts";
import type { Database, Queries } from "../../platform/database/database.ts";
import { isRetryable } from "../../platform/database/storage_error.ts";
import { readFunds } from "./balance.ts";
import { openBatch } from "./batch.ts";
import {
  type Hold,
  holdItem,
  type HoldRequest,
  makeHold,
  type OpenHold,
  readHeld,
  type Resolver,
} from "./hold.ts";
import type { Currency } from "./insufficient.ts";
import { HoldRenewer, LEASE_SECONDS } from "./hold_renewer.ts";
import { type Item, type Outcome, runItem, runLate } from "./item.ts";
import { type PendingOptions, PendingSettlements } from "./pending_settlements.ts";
import { releaseItem } from "./release.ts";
import { retryFor } from "../../platform/database/retry_for.ts";
import {
  checkpointItem,
  readCheckpoint,
  readResolution,
  type Resolution,
  settleItem,
} from "./settle.ts";

export interface LedgerOptions {
  database: Database;
  /** Called per hold, because the configuration can change. */
  money: () => Currency;
  /** A settlement came to more than its hold; `shortfall` is the part that the account could not pay. */
  onExceeded(resolution: Resolution): void;
  /** A hold could not be released when its scope ended; the sweeper will release it. */
  onOrphanedHold(id: string, error: unknown): void;
  renewer?: HoldRenewer;
  /** How settlements wait while the database is away. */
  pending?: PendingOptions;
}

/**
 * Reserves and takes money. Each call is one durable transaction, shared with calls that arrive together;
 * the methods that end in `In` take part in a transaction of the caller instead.
 */
export interface Ledger extends Resolver {
  /** Renews the open holds of this process; to be called every few seconds, and before a sweep. */
  renew(): Promise<void>;
  /** What an account can spend now. */
  funds(account: string): Promise<Funds>;
  /** Throws `insufficient_balance`. */
  hold(request: HoldRequest): Promise<Hold>;

  holdIn(sql: Queries, request: HoldRequest): Promise<OpenHold>;
  settleIn(sql: Queries, id: string, charge: Charge): Promise<Resolution>;
  releaseIn(sql: Queries, id: string): Promise<Resolution>;

  /** Settlements of delivered responses that wait for the database. */
  readonly pending: PendingSettlements;
}

type Run = (item: Item) => Promise<Outcome>;

const within = (sql: Queries): Run => (item) => runItem(sql, item);
const lateWithin = (sql: Queries): Run => (item) => runLate(sql, item);

export function openLedger(options: LedgerOptions): Ledger {
  const { database, money, onExceeded, onOrphanedHold, renewer = new HoldRenewer() } = options;
  const batch = openBatch(database.sql);
  const together: Run = (item) => batch.add(item);

  async function hold(run: Run, request: HoldRequest): Promise<Hold> {
    const currency = money();
    const outcome = await run(holdItem(request, currency.currencyScale));
    const state = readHeld(request, outcome, currency);
    return makeHold(ledger, request, state, onOrphanedHold);
  }
  function resolved(outcome: Outcome): Resolution {
    const resolution = readResolution(outcome);
    renewer.delete(resolution.id);
    if (resolution.isFirst && resolution.isBeyondHold) onExceeded(resolution);
    return resolution;
  }
  /** A hold that a sweeper has resolved meanwhile is settled anyway, in the same receipt. */
  async function settle(run: Run, runLate: Run, item: Item): Promise<Resolution> {
    const resolution = resolved(await run(item));
    if (resolution.isFirst || resolution.state === "released") return resolution;
    return resolved(await runLate(item));
  }
  const late = lateWithin(database.sql);
  const pending = new PendingSettlements({
    settle: (item) => settle(together, late, item),
    drop: (id) => renewer.delete(id),
    ...options.pending,
  });
  const ledger: Ledger = {
    pending,
    async hold(request) {
      if (!request.isRenewed) return await hold(together, request);
      const ttlSeconds = Math.min(request.ttlSeconds, LEASE_SECONDS);
      const held = await hold(together, { ...request, ttlSeconds });
      renewer.add(request.id, request.ttlSeconds);
      return held;
    },
    renew: () => renewer.renew(database.sql),
    funds: (account) => readFunds(database.sql, account),
    settle: (id, charge, account) => settle(together, late, settleItem(id, charge, account)),
    async settleAgain(id, charge, account, { error, waitMs }) {
      try {
        return await retryFor(waitMs, error, () => ledger.settle(id, charge, account));
      } catch (error) {
        renewer.delete(id);
        throw error;
      }
    },
    async settleDelivered(id, charge, account) {
      try {
        return await ledger.settle(id, charge, account);
      } catch (error) {
        if (isRetryable(error) && pending.add(settleItem(id, charge, account))) return null;
        renewer.delete(id);
        throw error;
      }
    },
    async release(id, account) {
      renewer.delete(id);
      return resolved(await together(releaseItem(id, account)));
    },
    checkpoint: async (id, charge, account) =>
      readCheckpoint(await together(checkpointItem(id, charge, account))),
    holdIn: async (sql, request) => (await hold(within(sql), request)).keep(),
    settleIn: (sql, id, charge) => settle(within(sql), lateWithin(sql), settleItem(id, charge)),
    releaseIn: async (sql, id) => resolved(await runItem(sql, releaseItem(id))),
  };
  return ledger;
}
