import type { PriceSnapshot } from "../pricing/snapshot.ts";
import type { Item } from "./item.ts";

/** Cash alone pays: such charges may be booked all at once. */
export function isUsualCharge({ op, num, reserve_id, allocations }: Item): boolean {
  return op === "charge" && num !== undefined && reserve_id !== undefined &&
    allocations!.length === 1 && allocations![0]!.startsWith("cash:");
}

const COLUMNS = [
  "id",
  "account_id",
  "num",
  "den",
  "units",
  "usage",
  "request_id",
  "client_request_id",
  "model",
  "kind",
  "upstream",
  "cost",
  "beyond_hold",
  "reserve_id",
  "amount",
  "max_units",
  "begun_at",
  "is_told",
  "may_wait",
  "key_id",
  "end_user",
  "metadata",
  "endpoint",
] as const satisfies readonly (keyof Item)[];

/** Charges as the database type `charge_columns`, in JSON. Requests of one moment have few different prices. */
export function chargeColumns(charges: readonly [n: number, item: Item][]): string {
  const prices: PriceSnapshot[] = [];
  const columns: Record<string, unknown> = {
    n: charges.map(([n]) => n),
    bucket: charges.map(([, { allocations }]) => allocations![0]),
    drawn: charges.map(([, { held }]) => held![0]),
    price_number: charges.map(([, { price }]) => numberOf(prices, price!)),
    prices,
    scale: charges[0]![1].scale,
  };
  for (const name of COLUMNS) columns[name] = charges.map(([, item]) => item[name] ?? null);
  return JSON.stringify(columns);
}

/** The place of a price among those of the batch, from 1. */
function numberOf(prices: PriceSnapshot[], price: PriceSnapshot): number {
  const at = prices.indexOf(price);
  return at === -1 ? prices.push(price) : at + 1;
}
