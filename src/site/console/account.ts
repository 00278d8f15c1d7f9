import { findAccount } from "../../domain/accounts/accounts.ts";
import { slowedUntil } from "../../domain/ledger/slow_down.ts";
import type { Caller } from "../../domain/accounts/api_key_cache.ts";
import type { PricedAccount } from "../../domain/pricing/find_price.ts";
import { personOf, type SiteContext } from "../context.ts";
import type { ConsoleDeps } from "./deps.ts";

type Stored = Pick<ConsoleDeps, "database">;

/** Calls the API as the account of the signed-in person. */
export async function callApiAs(
  deps: ConsoleDeps,
  c: SiteContext,
  request: Request,
): Promise<Response> {
  return await deps.callApi(await callerOf(c, deps), request, c.env);
}

/** The account of the signed-in person, with the plan in force. */
export async function pricedAccountOf(
  c: SiteContext,
  { database }: Stored,
): Promise<PricedAccount> {
  const caller = await callerOf(c, { database });
  const name = caller.planExpiresAt > Date.now() ? caller.plan : "free";
  return {
    id: caller.account,
    plan: c.env.config.plans.has(name) ? name : "free",
    priceBook: caller.priceBook,
  };
}

/** The account as an API caller. Without an API key, the console counts as one client per account. */
async function callerOf(c: SiteContext, { database }: Stored): Promise<Caller> {
  const id = personOf(c).account;
  const [account, slowed] = await Promise.all([
    findAccount(database.sql, id),
    slowedUntil(database.sql, id),
  ]);
  return {
    key: `console of ${account.id}`,
    account: account.id,
    plan: account.plan,
    planExpiresAt: account.plan_expires_at === null
      ? Infinity
      : Date.parse(account.plan_expires_at),
    priceBook: account.price_book,
    restrictions: null,
    isSuspended: account.status !== "active",
    slowedUntil: slowed,
    logBodies: true,
  };
}
