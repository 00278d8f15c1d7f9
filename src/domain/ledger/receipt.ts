import { decimal, formatDecimal, trimDecimal } from "../../lib/money.ts";
import type { PriceSnapshot } from "../pricing/snapshot.ts";
import type { Usage } from "../../model_types/usage.ts";
import type { Metadata } from "./request_origin.ts";
import type { HoldState } from "./item.ts";

/** What one request cost, how it was counted, and what paid for it. Also the `charge` of a task. */
export interface Receipt {
  id: string;
  object: "usage.receipt";
  request_id: string;
  client_request_id: string | null;
  /** The id of the API key; null for a request made in the console. */
  key: string | null;
  /** As in the body of the request. */
  user: string | null;
  metadata: Metadata | null;
  /** The operation of the route; null for requests of before receipts had it. */
  endpoint: string | null;
  model: string;
  status: HoldState;
  currency: string;
  /** Money: held, settled (also beyond the hold where usage was above it), released. */
  held: string;
  settled: string;
  released: string;
  /** The part of the price that the account could not pay. */
  shortfall: string;
  /** It was charged less than its price: what was held, and what the account had besides, was all. */
  capped: boolean;
  /** What was taken, by source. */
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
  key_id: string | null;
  end_user: string | null;
  metadata: Metadata | null;
  endpoint: string | null;
  model: string;
  state: HoldState;
  allocations: string[];
  held: string[];
  taken: string[] | null;
  shortfall: string | null;
  usage: Usage | null;
  price: PriceSnapshot;
  created_at: Date;
  resolved_at: Date | null;
}

export function toReceipt(row: ReceiptRow, currency: string): Receipt {
  const held = bySource(row.allocations, row.held);
  const taken = bySource(row.allocations, row.taken ?? []);
  return {
    id: row.id,
    object: "usage.receipt",
    request_id: row.request_id,
    client_request_id: row.client_request_id,
    key: row.key_id,
    user: row.end_user,
    metadata: row.metadata,
    endpoint: row.endpoint,
    model: row.model,
    status: row.state,
    currency,
    held: formatDecimal(held.gift + held.cash),
    settled: formatDecimal(taken.gift + taken.cash),
    released: formatDecimal(released(row)),
    shortfall: trimDecimal(row.shortfall ?? "0"),
    capped: decimal(row.shortfall ?? "0") > 0n,
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

/** Allocations beyond the hold, for which nothing was held, return nothing. */
function released({ allocations, held, taken }: ReceiptRow): bigint {
  if (taken === null) return 0n;
  let sum = 0n;
  for (const [at, bucket] of allocations.entries()) {
    const rest = decimal(held[at]!) - decimal(taken[at]!);
    if (rest > 0n && !bucket.startsWith("quota:")) sum += rest;
  }
  return sum;
}

/** Sums allocations by the source in their bucket's id: cash:…, gift:…, quota:… */
export function bySource(
  allocations: string[],
  amounts: string[],
): Record<"quota" | "gift" | "cash", bigint> {
  const sums = { quota: 0n, gift: 0n, cash: 0n };
  for (const [at, amount] of amounts.entries()) {
    sums[allocations[at]!.split(":")[0] as keyof typeof sums] += decimal(amount);
  }
  return sums;
}

function unixSeconds(moment: Date): number {
  return Math.floor(moment.getTime() / 1000);
}
