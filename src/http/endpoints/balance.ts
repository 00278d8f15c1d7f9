import { balance } from "../../ledger/balance.ts";
import type { Database } from "../../store/database.ts";
import { accountOf, type Endpoint, sendJson } from "../exchange.ts";

/** GET /v1/balance */
export function retrieveBalance({ database }: { database: Database }): Endpoint {
  return async function retrieveBalance(c) {
    const { currency } = c.env.plan.service;
    return sendJson(JSON.stringify(await balance(database.sql, accountOf(c).id, currency)));
  };
}
