import { decimal, formatDecimal, trimDecimal } from "../../lib/money.ts";
import type { Charge } from "../pricing/quote.ts";
import { chargeFields, type HoldState, type Item, type Outcome } from "./item.ts";

/** How a hold ended. */
export interface Resolution {
  id: string;
  account: string;
  state: HoldState;
  /** False when it had been resolved before: then this is that first resolution, and nothing moved now. */
  isFirst: boolean;
  /** Money that was reserved, and what was taken, also beyond the hold. Decimal strings. */
  held: string;
  taken: string;
  /** Units of quota that were taken. */
  quota: bigint;
  /** What the account did not pay: the price was above the hold and, where that counts, the balance. */
  shortfall: string;
  /** It came to more than was held. */
  isBeyondHold: boolean;
}

/** Takes what was used, gives back the rest. Settling to nothing gives everything back. */
export function settleItem(id: string, charge: Charge, account?: string): Item {
  return { op: "settle", id, account_id: account, ...chargeFields(charge) };
}

export function checkpointItem(id: string, charge: Charge, account?: string): Item {
  return { op: "checkpoint", id, account_id: account, ...chargeFields(charge) };
}

export function readCheckpoint({ id, outcome }: Outcome): void {
  if (outcome === "unknown") throw new Error(`Cannot note on ${id}: there is no such hold`);
}

export function readResolution(
  { id, outcome, state, legs, held, taken, shortfall, account_id }: Outcome,
): Resolution {
  if (outcome !== "resolved" && outcome !== "already") {
    throw new Error(`Cannot resolve ${id}: there is no such hold`);
  }
  const unpaid = trimDecimal(shortfall ?? "0");
  return {
    id,
    account: account_id!,
    state: state!,
    isFirst: outcome === "resolved",
    ...amountsOf(legs!, held!, taken ?? []),
    shortfall: unpaid,
    // Nothing is held in the legs that were made at the settlement, and they stand last.
    isBeyondHold: unpaid !== "0.00" || (held!.length > 0 && Number(held!.at(-1)) === 0),
  };
}

function amountsOf(legs: string[], held: string[], taken: string[]) {
  const isQuota = (at: number) => legs[at]!.startsWith("quota:");
  // One pot of money is what nearly everybody pays from: nothing to add up.
  if (legs.length === 1 && !isQuota(0)) {
    return { held: trimDecimal(held[0]!), taken: trimDecimal(taken[0] ?? "0"), quota: 0n };
  }
  const money = (amounts: string[]) => formatDecimal(sum(amounts, (at) => !isQuota(at)));
  return { held: money(held), taken: money(taken), quota: sum(taken, isQuota) / decimal("1") };
}

function sum(amounts: string[], counts: (at: number) => boolean): bigint {
  return amounts.reduce((total, amount, at) => counts(at) ? total + decimal(amount) : total, 0n);
}
