import { formatDecimal, roundUp } from "../../lib/money.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Quote } from "../pricing/quote.ts";

/** The currency of the ledger. */
export interface Currency {
  readonly currency: string;
  /** Decimals that charges are rounded to. */
  readonly currencyScale: number;
}

/** The error for a request that the balance does not cover, with the amount that would have been held. */
export function insufficientBalance(
  { amount }: Pick<Quote, "amount">,
  { currency, currencyScale }: Currency,
  hint?: string,
): ApiError {
  const maxPrice = `${formatDecimal(roundUp(amount, currencyScale))} ${currency}`;
  return new ApiError(
    "insufficient_balance",
    `The balance does not cover this request, which may cost up to ${maxPrice}: recharge or change plan.` +
      (hint === undefined ? "" : ` ${hint}`),
  );
}
