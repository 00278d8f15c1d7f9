import type { Charge, Quote } from "../pricing/quote.ts";
import { snapshotOf } from "../pricing/snapshot.ts";
import { type Currency, insufficientBalance } from "./insufficient.ts";
import { amountFields, type HoldState, type Item, type Outcome } from "./item.ts";
import type { Resolution } from "./settle.ts";

export interface HoldRequest {
  /** The request's id. The same id again finds the same hold. */
  id: string;
  account: string;
  /** Where it is not the id. */
  requestId?: string;
  quote: Quote;
  clientRequestId?: string | undefined;
  /** How long it may stay open before the sweeper resolves it. */
  ttlSeconds: number;
  /** Renewed while this process lives and has not resolved it; without it, the sweeper comes in a minute. */
  isRenewed?: boolean;
  /**
   * The actual price is charged whole, as far as the free balance goes, also where it comes to more than was
   * held. For usage that the upstream counts; without it a settlement takes at most the hold.
   */
  beyondHold?: boolean;
  /** What would cost less, told to whom the balance is short. */
  cheaper?: string | undefined;
}

/** A reservation that somebody must resolve. */
export interface OpenHold {
  readonly id: string;
  /** `open`, unless the same id was held before. */
  readonly state: HoldState;
  /** While the database is away, waits for it for so long at most. */
  settle(charge: Charge, waitMs?: number): Promise<Resolution>;
  /** For what the client has already: settles now or, while the database is away, as soon as it is back. */
  settleDelivered(charge: Charge): Promise<void>;
  release(): Promise<Resolution>;
  /** Remembers what is owed so far, in case nobody comes back. */
  note(charge: Charge): Promise<void>;
}

/** Leaving its scope releases it, unless it was resolved or handed on. */
export interface Hold extends OpenHold, AsyncDisposable {
  /** Whoever gets the result resolves it. */
  keep(): OpenHold;
}

export function holdItem(request: HoldRequest, scale: number): Item {
  const { quote } = request;
  return {
    op: "hold",
    id: request.id,
    account_id: request.account,
    ...amountFields(quote.amount, quote.units),
    scale,
    request_id: request.requestId ?? request.id,
    client_request_id: request.clientRequestId,
    model: quote.model,
    kind: quote.kind,
    price: snapshotOf(quote.price),
    ttl_seconds: request.ttlSeconds,
    beyond_hold: request.beyondHold,
  };
}

/** The state of what was held; throws where nothing could be. */
export function readHeld(
  request: HoldRequest,
  { outcome, state }: Outcome,
  money: Currency,
): HoldState {
  switch (outcome) {
    case "held":
    case "already":
      return state!;
    case "insufficient":
      throw insufficientBalance(request.quote, money, request.cheaper);
    case "conflict":
      throw new Error(`Cannot hold ${request.id}: the same id was held for something else`);
    default:
      throw new Error(`Cannot hold ${request.id}: there is no account ${request.account}`);
  }
}

/** The part of a ledger that a hold needs. */
export interface Resolver {
  settle(id: string, charge: Charge, account?: string): Promise<Resolution>;
  /** Waits so long for what made a settlement fail to pass; what cannot be settled then is the sweeper's. */
  settleAgain(
    error: unknown,
    waitMs: number,
    id: string,
    charge: Charge,
    account?: string,
  ): Promise<Resolution>;
  settleDelivered(id: string, charge: Charge, account?: string): Promise<void>;
  release(id: string, account?: string): Promise<Resolution>;
  note(id: string, charge: Charge, account?: string): Promise<void>;
}

export function makeHold(
  ledger: Resolver,
  request: HoldRequest,
  state: HoldState,
  onStray: (id: string, error: unknown) => void,
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
        return await ledger.settleAgain(error, waitMs, id, charge, account);
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
    note: (charge) => ledger.note(id, charge, account),
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
      // What ended the scope is what the caller should hear of, not this.
      await ledger.release(id, account).catch((error) => onStray(id, error));
    },
  };
}
