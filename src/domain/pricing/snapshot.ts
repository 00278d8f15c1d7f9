import type { AmountName, Price } from "../../platform/config/config.ts";

/** A price as receipts show it and as it is stored with the request. */
export type PriceSnapshot = Partial<Record<AmountName, string>> & {
  model: string;
  billing_type: Price["billingType"];
  unit: string;
  book: string;
  effective_at: string;
};

/** Prices are frozen with their configuration, so one snapshot serves all requests. */
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

/** The price from its snapshot, to settle a request that was accepted with it. */
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
