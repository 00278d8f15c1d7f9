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
  /** JSON. What differs, in the order of `ids`. */
  readonly rows: string | null;
  readonly ids: string[] | null;
  /** Decimals of the currency. */
  readonly scale: number | null;
}

export const NO_CHARGES: ChargeRows = { groups: null, rows: null, ids: null, scale: null };

export function chargeRows(charges: readonly [n: number, item: Item][]): ChargeRows {
  const groups = new Groups();
  const rows = charges.map(([n, item]) => ({
    n,
    g: groups.numberOf(item),
    num: item.num,
    units: item.units,
    usage: item.usage,
    cost: item.cost,
    drawn: item.held![0],
    max_units: item.max_units,
    begun_at: item.begun_at,
    is_told: item.is_told,
    may_wait: item.may_wait,
    request_id: item.request_id === item.id ? undefined : item.request_id,
    client_request_id: item.client_request_id,
    end_user: item.end_user,
    metadata: item.metadata,
  }));
  return {
    groups: JSON.stringify(groups.all),
    rows: JSON.stringify(rows),
    ids: charges.map(([, { id }]) => id),
    scale: charges[0]![1].scale!,
  };
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
