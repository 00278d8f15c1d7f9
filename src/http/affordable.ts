import { ApiError } from "../lib/api_error.ts";
import { decimal } from "../lib/money.ts";
import type { Config } from "../platform/config/config.ts";
import { readBalance } from "../domain/ledger/balance.ts";
import type { Database } from "../platform/database/database.ts";
import { accountOf, type Endpoint, type HttpContext } from "./exchange.ts";

/** What is larger is worth a look at the balance before it is read. */
const LARGE_BYTES = 256 * 1024;

/** Refuses large bodies of accounts that have nothing at all, before they are read. */
export function affordable({ database }: { database: Database }, endpoint: Endpoint): Endpoint {
  return function affordableEndpoint(c) {
    if (!mayBeLarge(c) || hasFreePrice(c.env.config)) return endpoint(c);
    return hasSomething(c, database).then((isFunded) => {
      if (!isFunded) throw nothingLeft();
      return endpoint(c);
    });
  };
}

/** The same for what costs nothing: a small body is read without money too, however it is sent. */
export function affordableIfLarge(deps: { database: Database }, endpoint: Endpoint): Endpoint {
  return function affordableIfLargeEndpoint(c) {
    if (!mayBeLarge(c) || hasFreePrice(c.env.config)) return endpoint(c);
    return hasSomething(c, deps.database).then((isFunded) => {
      if (!isFunded && isAnnounced(c)) throw nothingLeft();
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

async function hasSomething(c: HttpContext, { sql }: Database): Promise<boolean> {
  const { available_balance, quotas } = await readBalance(sql, accountOf(c).id, "");
  return decimal(available_balance) > 0n || Object.values(quotas).some((left) => left > 0);
}

function nothingLeft(): ApiError {
  return new ApiError(
    "insufficient_balance",
    "The balance is used up: recharge or change plan.",
  );
}

const freePrices = new WeakMap<Config, boolean>();

/** Whether anything may cost nothing: then an account without money may be served. */
function hasFreePrice(config: Config): boolean {
  let hasFree = freePrices.get(config);
  if (hasFree === undefined) {
    const prices = [...config.books.values()].flatMap((book) => [...book.prices.values()].flat());
    hasFree = prices.some(({ amounts }) =>
      Object.values(amounts).every((amount) => decimal(amount!) === 0n)
    );
    freePrices.set(config, hasFree);
  }
  return hasFree;
}
