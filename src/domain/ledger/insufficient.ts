import { formatDecimal, roundUp } from "../../lib/money.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Quote } from "../pricing/quote.ts";

/** The currency of the ledger. */
export interface Currency {
  readonly currency: string;
  /** Decimals that charges are rounded to. */
  readonly currencyScale: number;
  /** Where accounts get more; by default the page of the console, at any address. */
  readonly topUpUrl?: string;
}

const TOP_UP_PATH = "/console/billing";
const CURRENCIES = new WeakMap<Config, Currency>();

/** The currency of a configuration. */
export function currencyOf(config: Config): Currency {
  let currency = CURRENCIES.get(config);
  if (currency === undefined) {
    const { service, site } = config;
    currency = { ...service, topUpUrl: `${site.url ?? ""}${TOP_UP_PATH}` };
    CURRENCIES.set(config, currency);
  }
  return currency;
}

/** The error for a request that the balance does not cover, with the amount that would have been held. */
export function insufficientBalance(
  { amount }: Pick<Quote, "amount">,
  { currency, currencyScale, topUpUrl = TOP_UP_PATH }: Currency,
  hint?: string,
): ApiError {
  const maxPrice = `${formatDecimal(roundUp(amount, currencyScale))} ${currency}`;
  return new ApiError(
    "insufficient_balance",
    `The balance does not cover this request, which may cost up to ${maxPrice}: recharge at ${topUpUrl} or ` +
      "change plan." +
      (hint === undefined ? "" : ` ${hint}`),
  );
}

/** The budget of the key does not cover a request. */
export class KeyBudgetExceeded extends ApiError {
  constructor(
    { amount }: Pick<Quote, "amount">,
    { currency, currencyScale }: Currency,
    /** What is left of it, in units of 10⁻¹². */
    readonly left: bigint,
  ) {
    const maxPrice = `${formatDecimal(roundUp(amount, currencyScale))} ${currency}`;
    const rest = `${formatDecimal(left)} ${currency}`;
    super(
      "key_budget_exceeded",
      `The budget of this API key does not cover this request, which may cost up to ${maxPrice}: ${rest} is left. ` +
        "GET /v1/key shows the budget and when it renews.",
    );
  }
}
