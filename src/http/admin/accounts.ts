import {
  createAccount,
  findAccount,
  listAccounts,
  type NewAccount,
} from "../../domain/accounts/accounts.ts";
import { requireConfigured } from "../../domain/accounts/require_configured.ts";
import { readBalance } from "../../domain/ledger/balance.ts";
import { bodySchema } from "../body_schema.ts";
import { type Endpoint, sendJson } from "../exchange.ts";
import { readPage, sendJsonPage } from "../paging.ts";
import { readJson } from "../read_json.ts";
import type { AdminDeps } from "./mount.ts";
import schema from "../../../schemas/requests/admin_accounts.schema.json" with { type: "json" };

const newAccount = bodySchema<NewAccount>(schema);

/** POST /admin/v1/accounts */
export function createAccountEndpoint({ database }: AdminDeps): Endpoint {
  return async function createAccountEndpoint(c) {
    const body = newAccount(await readJson(c));
    requireConfigured(c.env.config, body);
    return sendJson(JSON.stringify(await createAccount(database.sql, body)), 201);
  };
}

/** GET /admin/v1/accounts */
export function listAccountsEndpoint({ database }: AdminDeps): Endpoint {
  return async function listAccountsEndpoint(c) {
    const { data, hasMore } = await listAccounts(database.sql, readPage(c));
    return sendJsonPage(data, hasMore);
  };
}

/** GET /admin/v1/accounts/{id}, with its balance */
export function retrieveAccount({ database }: AdminDeps): Endpoint {
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
