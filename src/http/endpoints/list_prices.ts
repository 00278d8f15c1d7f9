import type { Price } from "../../platform/config/config.ts";
import { pricesFor } from "../../domain/pricing/find_price.ts";
import { accountOf, type Endpoint, sendJson } from "../exchange.ts";

/** GET /v1/pricing/models: the prices of this account. */
export function listPrices(): Endpoint {
  return function listPrices(c) {
    const { config } = c.env;
    const prices = pricesFor(config, accountOf(c), Date.now());
    // The list is effective since its newest price.
    const since = prices.reduce((latest, price) => Math.max(latest, price.effectiveAt), 0);
    return sendJson(JSON.stringify({
      object: "list",
      currency: config.service.currency,
      data: prices.map(toPriceJson),
      effective_at: isoWithOffset(since),
    }));
  };
}

/** A price as the API shows it. */
export function toPriceJson(price: Price): Record<string, string> {
  return {
    model: price.model,
    billing_type: price.billingType,
    ...price.amounts,
    unit: price.unit,
  };
}

function isoWithOffset(moment: number): string {
  return new Date(moment).toISOString().replace(/\.\d+Z$/, "+00:00");
}
