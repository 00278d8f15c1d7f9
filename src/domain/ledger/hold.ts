import { decimal } from "../../lib/money.ts";
import type { Charge, Quote } from "../pricing/quote.ts";
import { snapshotOf } from "../pricing/snapshot.ts";
import { type Currency, insufficientBalance, KeyBudgetExceeded } from "./insufficient.ts";
import { amountFields, type HoldState, type Item, type Outcome, shareFields } from "./item.ts";
import { originFields, type RequestOrigin } from "./request_origin.ts";
import type { Resolution } from "./settle.ts";

export interface HoldRequest {
  /** The request's id. The same id again finds the same hold. */
  id: string;
  account: string;
  /** If it differs from the id. */
  requestId?: string;
  quote: Quote;
  clientRequestId?: string | undefined;
  origin?: RequestOrigin | undefined;
  /** How long it may stay open before the sweeper resolves it. */
  ttlSeconds: number;
  /** Renewed while this process runs and has not resolved it; if the process dies, the sweeper resolves it within a minute. */
  isRenewed?: boolean;
  /**
   * The actual price is charged whole, as far as the free balance goes, also where it comes to more than was
   * held. For usage that the upstream counts; without it a settlement takes at most the hold.
   */
  beyondHold?: boolean;
  /**
   * It may draw from a reserve instead, and then needs no statement before it runs. Left out for a key with a budget:
   * reserves do not know of it.
   */
  mayDraw?: boolean;
  /** Ends the wait for money that is only reserved, as when the client has disconnected. */
  signal?: AbortSignal;
}

/** A reservation that its owner must settle or release. */
export interface OpenHold {
  readonly id: string;
  /** `open`, unless the same id was held before. */
  readonly state: HoldState;
  /** While the database is away, waits for it for `waitMs` at most. */
  settle(charge: Charge, waitMs?: number): Promise<Resolution>;
  /**
   * For a response that the client has already: settles now or, while the database is away, as soon as it is back;
   * then the result is null.
   */
  settleDelivered(charge: Charge): Promise<Resolution | null>;
  release(): Promise<Resolution>;
  /** Stores the usage so far; the sweeper settles by it if this process dies. */
  checkpoint(charge: Charge): Promise<void>;
}

/** Leaving its scope releases it, unless it was resolved or kept. */
export interface Hold extends OpenHold, AsyncDisposable {
  /** The caller takes over the duty to resolve it. */
  keep(): OpenHold;
}

/** What an item says of its request, whether that is held or has drawn from a reserve. */
export function requestFields(request: HoldRequest, scale: number) {
  const { quote } = request;
  return {
    id: request.id,
    account_id: request.account,
    scale,
    request_id: request.requestId ?? request.id,
    client_request_id: request.clientRequestId,
    ...originFields(request.origin),
    model: quote.model,
    kind: quote.kind,
    price: snapshotOf(quote.price),
  };
}

export function holdItem(request: HoldRequest, scale: number): Item {
  return {
    op: "hold",
    ...requestFields(request, scale),
    ...amountFields(request.quote.amount, request.quote.units),
    ...shareFields(request.quote.shares),
    ttl_seconds: request.ttlSeconds,
    beyond_hold: request.beyondHold,
  };
}

/** The state of the hold; throws if nothing could be held. */
export function readHeld(
  request: HoldRequest,
  { outcome, state, budget_left }: Outcome,
  money: Currency,
): HoldState {
  switch (outcome) {
    case "held":
    case "already":
      return state!;
    case "insufficient":
      throw insufficientBalance(request.quote, money);
    case "over_budget":
      throw new KeyBudgetExceeded(request.quote, money, decimal(budget_left!));
    case "conflict":
      throw new Error(`Cannot hold ${request.id}: the same id was held for something else`);
    default:
      throw new Error(`Cannot hold ${request.id}: there is no account ${request.account}`);
  }
}

/** The part of a ledger that a hold needs. */
export interface Resolver {
  settle(id: string, charge: Charge, account?: string): Promise<Resolution>;
  /** Retries a settlement that failed, for `waitMs` at most; the sweeper resolves it if that fails too. */
  settleAgain(
    id: string,
    charge: Charge,
    account: string,
    failure: { error: unknown; waitMs: number },
  ): Promise<Resolution>;
  settleDelivered(id: string, charge: Charge, account?: string): Promise<Resolution | null>;
  release(id: string, account?: string): Promise<Resolution>;
  checkpoint(id: string, charge: Charge, account?: string): Promise<void>;
}

export function makeHold(
  ledger: Resolver,
  request: HoldRequest,
  state: HoldState,
  onOrphanedHold: (id: string, error: unknown) => void,
): Hold {
  const { id, account } = request;
  let isOurs = true;
  const open: OpenHold = {
    id,
    state,
    async settle(charge, waitMs = 0) {
      isOurs = false;
      try {
        return await ledger.settle(id, charge, account);
      } catch (error) {
        return await ledger.settleAgain(id, charge, account, { error, waitMs });
      }
    },
    settleDelivered(charge) {
      isOurs = false;
      return ledger.settleDelivered(id, charge, account);
    },
    release() {
      isOurs = false;
      return ledger.release(id, account);
    },
    checkpoint: (charge) => ledger.checkpoint(id, charge, account),
  };
  return {
    ...open,
    keep() {
      isOurs = false;
      return open;
    },
    async [Symbol.asyncDispose]() {
      if (!isOurs) return;
      isOurs = false;
      // The caller must see the error that ended the scope, not this one.
      await ledger.release(id, account).catch((error) => onOrphanedHold(id, error));
    },
  };
}
