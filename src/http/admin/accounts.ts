import type { NewAccount } from "../../../schemas/requests.ts";
import { findAccount, listAccounts } from "../../domain/accounts/accounts.ts";
import { requireConfigured } from "../../domain/accounts/require_configured.ts";
import { readBalance } from "../../domain/ledger/balance.ts";
import { audited } from "../../domain/audit/audit.ts";
import { openAccount } from "../../workflows/accounts/manage_accounts.ts";
import { actorOf } from "./actor.ts";
import { type BodyEndpoint, type Endpoint, sendJson } from "../exchange.ts";
import { readPage, sendJsonPage } from "../paging.ts";
import type { RouteDeps } from "../routes/route.ts";

/** POST /admin/v1/accounts */
export function createAccountEndpoint(deps: RouteDeps): BodyEndpoint<NewAccount> {
  return async function createAccountEndpoint(c, body) {
    requireConfigured(c.env.config, body);
    const account = await audited(deps, actorOf(c), (change) => openAccount(change, body));
    return sendJson(JSON.stringify(account), 201);
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
    const { currency } = c.env.config.service;
    return sendJson(
      JSON.stringify({
        ...account,
        balance: await readBalance(database.sql, account.id, currency),
      }),
    );
  };
}
