import type { Funds } from "../pricing/funds.ts";
import type { Database } from "../../platform/database/database.ts";
import { readFunds } from "./balance.ts";
import type { LogRows } from "./batch.ts";
import { Bookings, holdResolver } from "./bookings.ts";
import { ChangedKeys } from "./changed_keys.ts";
import { DrawnRequest } from "./drawn_request.ts";
import {
  type Hold,
  holdItem,
  type HoldRequest,
  makeHold,
  readHeld,
  type Resolver,
} from "./hold.ts";
import type { Currency } from "./insufficient.ts";
import { HoldRenewer, LEASE_SECONDS } from "./hold_renewer.ts";
import type { Outcome } from "./item.ts";
import type { PendingOptions, PendingSettlements } from "./pending_settlements.ts";
import { Reserves, type ReservesOptions } from "./reserves.ts";
import type { Resolution } from "./settle.ts";

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
  /** Rows that travel in the ledger's statements. */
  logRows?: LogRows | undefined;
  /** Unset: every request is held on its own. */
  reserves?: ReservesOptions | undefined;
}

/**
 * Reserves and takes money. Each call is one durable transaction, shared with calls that arrive together.
 * A request that draws from a reserve needs no statement before it is settled.
 */
export interface Ledger extends Resolver {
  /** Renews the open holds of this process; to be called every few seconds, and before a sweep. */
  renew(): Promise<void>;
  /** What an account can spend now. */
  funds(account: string): Promise<Funds>;
  /** Throws `insufficient_balance` or `key_budget_exceeded`. */
  hold(request: HoldRequest): Promise<Hold>;
  /**
   * A key may have got a budget, which counts holds and not draws: its requests that draw get holds, and none draws for a
   * while that does not know of it. Done when the budget counts them.
   */
  keyChanged(key: string): Promise<void>;
  /** Of an item that a statement of the caller has run; reports what exceeded its hold. */
  resolved(outcome: Outcome): Resolution;

  /** Settlements of delivered responses that wait for the database. */
  readonly pending: PendingSettlements;
  /** Null: every request is held on its own. */
  readonly reserves: Reserves | null;
}

export function openLedger(options: LedgerOptions): Ledger {
  const { database, money, onOrphanedHold, renewer = new HoldRenewer() } = options;
  const bookings = new Bookings({ ...options, renewer });
  const holds = holdResolver(bookings, renewer);
  const reserves = options.reserves === undefined
    ? null
    : new Reserves(database.sql, options.reserves);

  const changedKeys = new ChangedKeys();

  function tryDraw(request: HoldRequest): Hold | null {
    if (reserves === null || request.mayDraw !== true) return null;
    if (changedKeys.has(request.origin?.key ?? "")) return null;
    const { currencyScale: scale } = money();
    const draw = reserves.draw(request.account, request.quote, scale);
    if (draw === null) return null;
    const drawn = new DrawnRequest({ reserves, bookings, holds, renewer }, request, draw, scale);
    return makeHold(drawn, request, "open", onOrphanedHold);
  }
  async function holdAlone(request: HoldRequest): Promise<Hold> {
    const currency = money();
    const item = holdItem(request, currency.currencyScale);
    const { account, signal } = request;
    const outcome = await bookings.reservedRetry.run(account, () => bookings.run(item), { signal });
    return makeHold(holds, request, readHeld(request, outcome, currency), onOrphanedHold);
  }

  return {
    ...holds,
    pending: bookings.pending,
    reserves,
    async hold(request) {
      const drawn = tryDraw(request);
      if (drawn !== null) return drawn;
      if (!request.isRenewed) return await holdAlone(request);
      const ttlSeconds = Math.min(request.ttlSeconds, LEASE_SECONDS);
      const held = await holdAlone({ ...request, ttlSeconds });
      renewer.add(request.id, request.ttlSeconds);
      return held;
    },
    async keyChanged(key) {
      changedKeys.add(key);
      await reserves?.moveDraws(key);
    },
    renew: () => renewer.renew(database.sql),
    funds: (account) => readFunds(database.sql, account),
    resolved: (outcome) => bookings.read(outcome),
  };
}
