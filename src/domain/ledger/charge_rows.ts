import { jsonValue, rowsLiteral, type RowValue } from "../../platform/database/row_literal.ts";
import type { PriceSnapshot } from "../pricing/snapshot.ts";
import type { Item } from "./item.ts";

/** Cash alone pays: such charges may be booked all at once. */
export function isUsualCharge({ op, num, reserve_id, allocations }: Item): boolean {
  return op === "charge" && num !== undefined && reserve_id !== undefined &&
    allocations!.length === 1 && allocations![0]!.startsWith("cash:");
}

/** Charges as the SQL function `ledger_charge` takes them; null: there are none. */
export interface ChargeRows {
  /** JSON. What requests of one moment mostly have in common, such as the account and the price. */
  readonly groups: string | null;
  /** What differs, as an array of the SQL type `charge_row`. */
  readonly rows: string | null;
  /** Decimals of the currency. */
  readonly scale: number | null;
}

export const NO_CHARGES: ChargeRows = { groups: null, rows: null, scale: null };

export function chargeRows(charges: readonly [n: number, item: Item][]): ChargeRows {
  const groups = new Groups();
  const rows = charges.map(([n, item]) => toRow(n, groups.numberOf(item), item));
  return {
    groups: JSON.stringify(groups.all),
    rows: rowsLiteral(rows),
    scale: charges[0]![1].scale!,
  };
}

function toRow(n: number, group: number, item: Item): RowValue[] {
  return [
    item.id,
    n,
    group,
    item.num,
    item.units,
    jsonValue(item.usage),
    item.cost,
    item.held![0],
    item.max_units,
    item.begun_at,
    item.is_told,
    item.may_wait,
    item.request_id === item.id ? null : item.request_id,
    item.client_request_id,
    item.end_user,
    jsonValue(item.metadata),
  ];
}

class Groups {
  readonly all: Record<string, unknown>[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #prices: PriceSnapshot[] = [];

  numberOf(item: Item): number {
    const { reserve_id, key_id, upstream, endpoint, den, beyond_hold } = item;
    // A reserve has one account, and its cash is one bucket; a price has one model.
    const name = [reserve_id, key_id, upstream, endpoint, den, beyond_hold, this.#priceOf(item)]
      .join(" ");
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const { account_id, model, kind, price } = item;
    const g = this.all.length;
    this.#numbers.set(name, g);
    this.all.push({
      ...{ g, account_id, den, model, kind, price, upstream, beyond_hold, reserve_id },
      ...{ bucket: item.allocations![0], key_id, endpoint },
    });
    return g;
  }

  /** Snapshots of one price are one object. */
  #priceOf({ price }: Item): number {
    const at = this.#prices.indexOf(price!);
    return at === -1 ? this.#prices.push(price!) - 1 : at;
  }
}
