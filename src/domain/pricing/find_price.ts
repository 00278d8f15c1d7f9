import { ApiError } from "../../lib/api_error.ts";
import {
  type Config,
  isVisible,
  type Price,
  priceInForce,
  statusAt,
} from "../../platform/config/config.ts";

export interface PricedAccount {
  id: string;
  plan: string;
  /** A book of the account's own; models it does not list cost what the plan's book says. */
  priceBook: string | null;
}

/** What a model costs an account at a time; null if it has no price. */
export function priceFor(
  config: Config,
  account: PricedAccount,
  model: string,
  now: number,
): Price | null {
  for (const name of [account.priceBook, config.plans.get(account.plan)?.priceBook ?? "default"]) {
    const book = name === null ? undefined : config.books.get(name);
    const price = book === undefined ? null : priceInForce(book, model, now);
    if (price !== null) return price;
  }
  return null;
}

/** The same; refuses a model that has no price for the account. */
export function requirePrice(config: Config, account: PricedAccount, model: string): Price {
  const price = priceFor(config, account, model, Date.now());
  if (price !== null) return price;
  throw new ApiError(
    "model_unavailable",
    `The model "${model}" has no price for your account. Choose another model from GET /v1/models.`,
    { param: "model" },
  );
}

/** The prices that will apply to an account later, soonest first: only those that will be charged. */
export function announcedPrices(
  config: Config,
  account: PricedAccount,
  model: string,
  now: number,
): Price[] {
  const books = [...config.books.values()];
  const starts = books.flatMap(({ prices }) => prices.get(model) ?? [])
    .map(({ effectiveAt }) => effectiveAt).filter((start) => start > now);
  let current = priceFor(config, account, model, now);
  return [...new Set(starts)].toSorted((a, b) => a - b).flatMap((start) => {
    const price = priceFor(config, account, model, start);
    if (price === null || price === current) return [];
    current = price;
    return [price];
  });
}

/** The prices that apply to an account at a time, one per model it may use. */
export function pricesFor(config: Config, account: PricedAccount, now: number): Price[] {
  const prices: Price[] = [];
  for (const model of config.models.values()) {
    if (statusAt(model, now) === "unavailable" || !isVisible(model, account)) continue;
    const price = priceFor(config, account, model.id, now);
    if (price !== null) prices.push(price);
  }
  return prices;
}
