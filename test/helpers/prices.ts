import type { PriceTerms } from "../../src/model_types/price_terms.ts";
import type { Price } from "../../src/platform/config/config.ts";

export function price(billingType: Price["billingType"], unit: string, terms: PriceTerms): Price {
  return { book: "default", model: "m", billingType, unit, terms, effectiveAt: 0 };
}

export const perMillion = (terms: PriceTerms) => price("token", "1M tokens", terms);
export const perThousand = (terms: PriceTerms) => price("token", "1K tokens", terms);
