import { readBalance } from "../../domain/ledger/balance.ts";
import type { Database } from "../../platform/database/database.ts";
import { accountOf, type Endpoint, sendJson } from "../exchange.ts";

/** GET /v1/balance */
export function retrieveBalance({ database }: { database: Database }): Endpoint {
  return async function retrieveBalance(c) {
    const { currency } = c.env.config.service;
    return sendJson(JSON.stringify(await readBalance(database.sql, accountOf(c).id, currency)));
  };
}
