import { decimal, formatDecimal, trimDecimal } from "../../lib/money.ts";
import type { Charge } from "../pricing/quote.ts";
import { chargeFields, type HoldState, type Item, type Outcome } from "./item.ts";

/** How a hold ended. */
export interface Resolution {
  id: string;
  account: string;
  state: HoldState;
  /** False if it had been resolved before: then this is the first resolution, and nothing was booked now. */
  isFirst: boolean;
  /** Money that was reserved, and what was taken, also beyond the hold. Decimal strings. */
  held: string;
  taken: string;
  /** Units of quota that were taken. */
  quota: bigint;
  /** The part of the price that the account could not pay. */
  shortfall: string;
  /** It came to more than was held. */
  isBeyondHold: boolean;
}

/** Takes what was used and returns the rest. Settling to zero returns everything. */
export function settleItem(id: string, charge: Charge, account?: string): Item {
  return { op: "settle", id, account_id: account, ...chargeFields(charge) };
}

export function checkpointItem(id: string, charge: Charge, account?: string): Item {
  return { op: "checkpoint", id, account_id: account, ...chargeFields(charge) };
}

export function readCheckpoint({ id, outcome }: Outcome): void {
  if (outcome === "unknown") {
    throw new Error(`Cannot store a checkpoint of ${id}: there is no such hold`);
  }
}

export function readResolution(
  { id, outcome, state, allocations, held, taken, shortfall, account_id }: Outcome,
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
    ...amountsOf(allocations!, held!, taken ?? []),
    shortfall: unpaid,
    // Allocations that were made at the settlement have nothing held and come last.
    isBeyondHold: unpaid !== "0.00" || Number(held!.at(-1)) === 0,
  };
}

function amountsOf(allocations: string[], held: string[], taken: string[]) {
  const isQuota = (at: number) => allocations[at]!.startsWith("quota:");
  // Nearly all requests are paid from one money bucket: there is nothing to sum.
  if (allocations.length === 1 && !isQuota(0)) {
    return { held: trimDecimal(held[0]!), taken: trimDecimal(taken[0] ?? "0"), quota: 0n };
  }
  const money = (amounts: string[]) => formatDecimal(sum(amounts, (at) => !isQuota(at)));
  return { held: money(held), taken: money(taken), quota: sum(taken, isQuota) / decimal("1") };
}

function sum(amounts: string[], counts: (at: number) => boolean): bigint {
  return amounts.reduce((total, amount, at) => counts(at) ? total + decimal(amount) : total, 0n);
}
