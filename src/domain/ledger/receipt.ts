import { decimal, formatDecimal, trimDecimal } from "../../lib/money.ts";
import type { PriceSnapshot } from "../pricing/snapshot.ts";
import type { Usage } from "../pricing/usage.ts";
import type { HoldState } from "./item.ts";

/** What one request cost, how it was counted, and who paid. Also the `charge` of a task. */
export interface Receipt {
  id: string;
  object: "usage.receipt";
  request_id: string;
  client_request_id: string | null;
  model: string;
  status: HoldState;
  currency: string;
  /** Money: reserved, taken (where usage was above the hold, also beyond it), given back. */
  held: string;
  settled: string;
  released: string;
  /** What the request cost beyond what the account could pay. */
  shortfall: string;
  /** What was taken, by where it came from. */
  from: { quota: number; gift: string; cash: string };
  usage: Usage | null;
  price: PriceSnapshot;
  created: number;
  completed: number | null;
}

export interface ReceiptRow {
  id: string;
  request_id: string;
  client_request_id: string | null;
  model: string;
  state: HoldState;
  legs: string[];
  held: string[];
  taken: string[] | null;
  shortfall: string | null;
  usage: Usage | null;
  price: PriceSnapshot;
  created_at: Date;
  resolved_at: Date | null;
}

export function toReceipt(row: ReceiptRow, currency: string): Receipt {
  const held = bySource(row.legs, row.held);
  const taken = bySource(row.legs, row.taken ?? []);
  return {
    id: row.id,
    object: "usage.receipt",
    request_id: row.request_id,
    client_request_id: row.client_request_id,
    model: row.model,
    status: row.state,
    currency,
    held: formatDecimal(held.gift + held.cash),
    settled: formatDecimal(taken.gift + taken.cash),
    released: formatDecimal(released(row)),
    shortfall: trimDecimal(row.shortfall ?? "0"),
    from: {
      quota: Number(taken.quota / decimal("1")),
      gift: formatDecimal(taken.gift),
      cash: formatDecimal(taken.cash),
    },
    usage: row.usage,
    price: row.price,
    created: unixSeconds(row.created_at),
    completed: row.resolved_at === null ? null : unixSeconds(row.resolved_at),
  };
}

/** Allocations beyond the hold, for which nothing was held, give nothing back. */
function released({ legs, held, taken }: ReceiptRow): bigint {
  if (taken === null) return 0n;
  let sum = 0n;
  for (const [at, leg] of legs.entries()) {
    const rest = decimal(held[at]!) - decimal(taken[at]!);
    if (rest > 0n && !leg.startsWith("quota:")) sum += rest;
  }
  return sum;
}

/** Adds up legs by what their pots are: cash:…, gift:…, quota:… */
export function bySource(
  legs: string[],
  amounts: string[],
): Record<"quota" | "gift" | "cash", bigint> {
  const sums = { quota: 0n, gift: 0n, cash: 0n };
  for (const [at, amount] of amounts.entries()) {
    sums[legs[at]!.split(":", 1)[0] as keyof typeof sums] += decimal(amount);
  }
  return sums;
}

function unixSeconds(moment: Date): number {
  return Math.floor(moment.getTime() / 1000);
}
