import { readBalance, withQuotaModels } from "../../domain/ledger/balance.ts";
import type { Database } from "../../platform/database/database.ts";
import { accountOf, type Endpoint, sendJson } from "../exchange.ts";

/** GET /v1/balance */
export function retrieveBalance({ database }: { database: Database }): Endpoint {
  return async function retrieveBalance(c) {
    const { plans, service } = c.env.config;
    const balance = await readBalance(database.sql, accountOf(c).id, service.currency);
    return sendJson(JSON.stringify(withQuotaModels(balance, plans)));
  };
}
