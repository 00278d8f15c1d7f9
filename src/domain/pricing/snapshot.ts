import type { PriceTerms } from "../../model_types/price_terms.ts";
import type { Price } from "../../platform/config/config.ts";

/** A price as receipts show it and as it is stored with the request. */
export interface PriceSnapshot extends PriceTerms {
  readonly model: string;
  readonly billing_type: Price["billingType"];
  readonly unit: string;
  readonly book: string;
  readonly effective_at: string;
}

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
    ...price.terms,
    unit: price.unit,
    book: price.book,
    effective_at: new Date(price.effectiveAt).toISOString(),
  };
}

/** The price from its snapshot, to settle a request that was accepted with it. */
export function priceFrom(snapshot: PriceSnapshot): Price {
  const { model, billing_type, unit, book, effective_at, ...terms } = snapshot;
  return {
    model,
    billingType: billing_type,
    unit,
    book,
    effectiveAt: Date.parse(effective_at),
    terms,
  };
}
