import type { NewAccount } from "../../../schemas/requests.ts";
import { createAccount, findAccount, listAccounts } from "../../domain/accounts/accounts.ts";
import { requireConfigured } from "../../domain/accounts/require_configured.ts";
import { readBalance } from "../../domain/ledger/balance.ts";
import { withPlanName } from "../endpoints/balance.ts";
import { type BodyEndpoint, type Endpoint, sendJson } from "../exchange.ts";
import { readPage, sendJsonPage } from "../paging.ts";
import type { RouteDeps } from "../routes/route.ts";

/** POST /admin/v1/accounts */
export function createAccountEndpoint({ database }: RouteDeps): BodyEndpoint<NewAccount> {
  return async function createAccountEndpoint(c, body) {
    requireConfigured(c.env.config, body);
    return sendJson(JSON.stringify(await createAccount(database.sql, body)), 201);
  };
}

/** GET /admin/v1/accounts */
export function listAccountsEndpoint({ database }: RouteDeps): Endpoint {
  return async function listAccountsEndpoint(c) {
    const { data, hasMore } = await listAccounts(database.sql, readPage(c));
    return sendJsonPage(data, hasMore);
  };
}

/** GET /admin/v1/accounts/{id}, with its balance */
export function retrieveAccount({ database }: RouteDeps): Endpoint {
  return async function retrieveAccount(c) {
    const account = await findAccount(database.sql, c.req.param("id") ?? "");
    const { config } = c.env;
    const balance = await readBalance(database.sql, account.id, config.service.currency);
    return sendJson(JSON.stringify({ ...account, balance: withPlanName(config, balance) }));
  };
}
