import { formatDecimal, roundUp } from "../../lib/money.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Quote } from "../pricing/quote.ts";

/** What the books are in. */
export interface Currency {
  readonly currency: string;
  /** Decimals that charges are rounded to. */
  readonly currencyScale: number;
}

/** The refusal of a request that the balance is short for: with the amount that would have been held. */
export function insufficientBalance(
  { amount }: Pick<Quote, "amount">,
  { currency, currencyScale }: Currency,
  hint?: string,
): ApiError {
  const most = `${formatDecimal(roundUp(amount, currencyScale))} ${currency}`;
  return new ApiError(
    "insufficient_balance",
    `The balance does not cover this request, which may cost up to ${most}: recharge or change plan.` +
      (hint === undefined ? "" : ` ${hint}`),
  );
}
