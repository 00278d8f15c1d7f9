import { ApiError } from "../lib/api_error.ts";
import { decimal } from "../lib/money.ts";
import type { Config, Price } from "../platform/config/config.ts";
import { readBalance } from "../domain/ledger/balance.ts";
import type { Database } from "../platform/database/database.ts";
import { accountOf, type Endpoint, type HttpContext } from "./exchange.ts";

/** Larger bodies are read only after a check of the balance. */
const LARGE_BYTES = 256 * 1024;

/** Rejects large bodies of accounts without any funds before they are read. */
export function requireFunds({ database }: { database: Database }, endpoint: Endpoint): Endpoint {
  return function fundedEndpoint(c) {
    if (!mayBeLarge(c) || hasFreePrice(c.env.config)) return endpoint(c);
    return hasFunds(c, database).then((isFunded) => {
      if (!isFunded) throw noFundsLeft();
      return endpoint(c);
    });
  };
}

/** For endpoints that cost nothing: a small body is read without funds too. */
export function requireFundsForLargeBody(
  deps: { database: Database },
  endpoint: Endpoint,
): Endpoint {
  return function fundedIfLargeEndpoint(c) {
    if (!mayBeLarge(c) || hasFreePrice(c.env.config)) return endpoint(c);
    return hasFunds(c, deps.database).then((isFunded) => {
      if (!isFunded && isAnnounced(c)) throw noFundsLeft();
      if (!isFunded) c.env.bodyBytesMax = LARGE_BYTES;
      return endpoint(c);
    });
  };
}

const isAnnounced = (c: HttpContext) => c.req.raw.headers.has("content-length");

function mayBeLarge(c: HttpContext): boolean {
  const length = c.req.raw.headers.get("content-length");
  if (length !== null && Number(length) <= LARGE_BYTES) return false;
  return c.req.raw.body !== null;
}

async function hasFunds(c: HttpContext, { sql }: Database): Promise<boolean> {
  const { available_balance, quotas } = await readBalance(sql, accountOf(c).id, "");
  return decimal(available_balance) > 0n || Object.values(quotas).some((left) => left > 0);
}

function noFundsLeft(): ApiError {
  return new ApiError(
    "insufficient_balance",
    "Your balance is used up. Add credit or change your plan.",
  );
}

const freePrices = new WeakMap<Config, boolean>();

/** Whether any model is free: then an account without money may use it. */
function hasFreePrice(config: Config): boolean {
  let hasFree = freePrices.get(config);
  if (hasFree === undefined) {
    const prices = [...config.books.values()].flatMap((book) => [...book.prices.values()].flat());
    hasFree = prices.some(isFree);
    freePrices.set(config, hasFree);
  }
  return hasFree;
}

/** Free for some requests: the balance that the others need is checked when they are quoted. */
function isFree({ terms }: Price): boolean {
  const { price, input_price, output_price = "0", variants = [] } = terms;
  const isZero = (amount: string | undefined) => amount !== undefined && decimal(amount) === 0n;
  return isZero(price) || isZero(input_price) && isZero(output_price) ||
    variants.some((variant) => isZero(variant.price));
}
