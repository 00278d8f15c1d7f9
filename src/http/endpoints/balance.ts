import { type Balance, readBalance } from "../../domain/ledger/balance.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/database/database.ts";
import { accountOf, type Endpoint, sendJson } from "../exchange.ts";

/** GET /v1/balance */
export function retrieveBalance({ database }: { database: Database }): Endpoint {
  return async function retrieveBalance(c) {
    const { config } = c.env;
    const balance = await readBalance(database.sql, accountOf(c).id, config.service.currency);
    return sendJson(JSON.stringify(withPlanName(config, balance)));
  };
}

/** The balance with the plan's name for people. A plan that is no longer configured has its id only. */
export function withPlanName({ plans }: Pick<Config, "plans">, balance: Balance): Balance {
  const { name: id, ...plan } = balance.plan;
  return { ...balance, plan: { name: plans.get(id)?.name ?? id, ...plan } };
}
