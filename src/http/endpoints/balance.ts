import { readBalance, withPlanDetails } from "../../domain/ledger/balance.ts";
import type { Database } from "../../platform/database/database.ts";
import { accountOf, type Endpoint, sendJson } from "../exchange.ts";

/** GET /v1/balance */
export function retrieveBalance({ database }: { database: Database }): Endpoint {
  return async function retrieveBalance(c) {
    const { config } = c.env;
    const balance = await readBalance(database.sql, accountOf(c).id, config.service.currency);
    return sendJson(JSON.stringify(withPlanDetails(balance, config.plans)));
  };
}
