import { formatDecimal, roundHalfUp } from "../base/money.ts";
import { Refusal } from "../base/refusal.ts";
import type { Charge } from "../pricing/quote.ts";
import type { Database, Queries } from "../store/database.ts";
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
import { LEASE_SECONDS, LivingHolds } from "./living_holds.ts";
import { type Item, type Outcome, runItem } from "./item.ts";
import { releaseItem } from "./release.ts";
import { noteItem, readNoted, readResolution, type Resolution, settleItem } from "./settle.ts";

export interface LedgerOptions {
  database: Database;
  /** Asked per hold, as declarations change. */
  money: () => Currency;
  /** A settlement came to more than its hold; `shortfall` is what the account did not pay of it. */
  onExceeded(resolution: Resolution): void;
  /** A hold could not be released when its scope ended. The sweeper will; worth a line in the log. */
  onStray(id: string, error: unknown): void;
  living?: LivingHolds;
}

/**
 * Reserving and taking money. Each call is one durable transaction, shared with others of the same
 * moment; the forms that end in `In` take part in a transaction of the caller's instead.
 */
export interface Ledger extends Resolver {
  /** Renews what this process still has open; to be called every few seconds, and before a sweep. */
  renew(): Promise<void>;
  /** Refuses with `insufficient_balance`. */
  hold(request: HoldRequest): Promise<Hold>;

  holdIn(sql: Queries, request: HoldRequest): Promise<OpenHold>;
  settleIn(sql: Queries, id: string, charge: Charge): Promise<Resolution>;
  releaseIn(sql: Queries, id: string): Promise<Resolution>;
}

type Run = (item: Item) => Promise<Outcome>;

const NOTHING = { amount: { num: 0n, den: 1n }, units: 0n };

export function openLedger(options: LedgerOptions): Ledger {
  const { database, money, onExceeded, onStray, living = new LivingHolds() } = options;
  const batch = openBatch(database.sql);
  const together: Run = (item) => batch.add(item);
  const within = (sql: Queries): Run => (item) => runItem(sql, item);

  async function hold(run: Run, request: HoldRequest): Promise<Hold> {
    const currency = money();
    const outcome = await run(holdItem(request, currency.currencyScale));
    const state = readHeld(request, outcome, currency);
    return makeHold(ledger, request, state, onStray);
  }
  async function resolve(run: Run, item: Item): Promise<Resolution> {
    const resolution = readResolution(await run(item));
    if (resolution.isFirst && resolution.isBeyondHold) onExceeded(resolution);
    return resolution;
  }
  async function holdAndRenew(request: HoldRequest): Promise<Hold> {
    const { id, ttlSeconds } = request;
    const held = await hold(together, {
      ...request,
      ttlSeconds: Math.min(ttlSeconds, LEASE_SECONDS),
    });
    living.add(id, ttlSeconds);
    return held;
  }
  /**
   * A sweeper takes a process for dead that cannot reach the database for a minute. What was served all the
   * same is reserved anew, exactly, and taken; what cannot be is a shortfall.
   */
  async function settleLate(
    request: HoldRequest,
    charge: Charge,
    ended: Resolution,
  ): Promise<Resolution> {
    const late = { ...request, id: `${request.id}.late`, requestId: request.id };
    // What is charged beyond its hold needs none: the settlement takes what is there.
    const { amount, units } = request.beyondHold ? NOTHING : charge;
    try {
      await hold(together, { ...late, quote: { ...request.quote, amount, units } });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const shortfall = formatDecimal(roundHalfUp(charge.amount, money().currencyScale));
      const unpaid = { ...ended, shortfall, isBeyondHold: true };
      onExceeded(unpaid);
      return unpaid;
    }
    return await resolve(together, settleItem(late.id, charge, request.account));
  }
  const ledger: Ledger = {
    settleLate,
    hold: (request) => request.isRenewed ? holdAndRenew(request) : hold(together, request),
    renew: () => living.renew(database.sql),
    settle(id, charge, account) {
      living.delete(id);
      return resolve(together, settleItem(id, charge, account));
    },
    release(id, account) {
      living.delete(id);
      return resolve(together, releaseItem(id, account));
    },
    note: async (id, charge, account) => readNoted(await together(noteItem(id, charge, account))),
    holdIn: async (sql, request) => (await hold(within(sql), request)).keep(),
    settleIn: (sql, id, charge) => resolve(within(sql), settleItem(id, charge)),
    releaseIn: (sql, id) => resolve(within(sql), releaseItem(id)),
  };
  return ledger;
}
