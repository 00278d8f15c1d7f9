import type { AmountName, Price } from "../../src/platform/config/config.ts";

type Amounts = Partial<Record<AmountName, string>>;

export function price(billingType: Price["billingType"], unit: string, amounts: Amounts): Price {
  return { book: "default", model: "m", billingType, unit, amounts, effectiveAt: 0 };
}

export const perMillion = (amounts: Amounts) => price("token", "1M tokens", amounts);
export const perThousand = (amounts: Amounts) => price("token", "1K tokens", amounts);
