import type { AmountName, Price } from "../../platform/config/config.ts";

/** A price as receipts show it, and as it is kept with what it priced. */
export type PriceSnapshot = Partial<Record<AmountName, string>> & {
  model: string;
  billing_type: Price["billingType"];
  unit: string;
  book: string;
  effective_at: string;
};

/** Prices are frozen with their plan, so one snapshot serves every request under it. */
const SNAPSHOTS = new WeakMap<Price, PriceSnapshot>();

export function snapshotOf(price: Price): PriceSnapshot {
  let snapshot = SNAPSHOTS.get(price);
  if (snapshot === undefined) SNAPSHOTS.set(price, snapshot = Object.freeze(write(price)));
  return snapshot;
}

function write(price: Price): PriceSnapshot {
  return {
    model: price.model,
    billing_type: price.billingType,
    ...price.amounts,
    unit: price.unit,
    book: price.book,
    effective_at: new Date(price.effectiveAt).toISOString(),
  };
}

/** The price again, for settling what was accepted under it. */
export function priceFrom(snapshot: PriceSnapshot): Price {
  const { model, billing_type, unit, book, effective_at, ...amounts } = snapshot;
  return {
    model,
    billingType: billing_type,
    unit,
    book,
    effectiveAt: Date.parse(effective_at),
    amounts,
  };
}
