import type { Config, Price } from "../../platform/config/config.ts";
import { pricesFor } from "../../domain/pricing/find_price.ts";
import { dramaParts } from "../../workflows/dramas/drama_parts.ts";
import { accountOf, type Endpoint, sendJson } from "../exchange.ts";
import { readMoment } from "./usage.ts";

/** GET /v1/pricing/models: the prices of this account, now or at a time. */
export function listPrices(): Endpoint {
  return function listPrices(c) {
    const { config } = c.env;
    const prices = pricesFor(config, accountOf(c), readMoment(c, "at")?.getTime() ?? Date.now());
    // The list is effective since its newest price.
    const since = prices.reduce((latest, price) => Math.max(latest, price.effectiveAt), 0);
    return sendJson(JSON.stringify({
      object: "list",
      currency: config.service.currency,
      data: prices.map((price) => toPriceJson(config, price)),
      effective_at: isoWithOffset(since),
    }));
  };
}

/** A price as the API shows it. */
export function toPriceJson(config: Config, price: Price): Record<string, unknown> {
  const parts = dramaParts(config.models.get(price.model)!);
  return {
    model: price.model,
    billing_type: price.billingType,
    ...price.terms,
    unit: price.unit,
    // A drama is charged for the models that it uses too.
    ...(parts.length === 0 ? {} : { parts }),
  };
}

function isoWithOffset(moment: number): string {
  return new Date(moment).toISOString().replace(/\.\d+Z$/, "+00:00");
}
