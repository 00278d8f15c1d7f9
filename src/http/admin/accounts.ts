import type { AccountChange, NewAccount } from "../../../schemas/requests.ts";
import { findAccount, listAccounts } from "../../domain/accounts/accounts.ts";
import { requireConfigured } from "../../domain/accounts/require_configured.ts";
import { readBalance, withPlanDetails } from "../../domain/ledger/balance.ts";
import { audited } from "../../domain/audit/audit.ts";
import { changeAccount, openAccount } from "../../workflows/accounts/manage_accounts.ts";
import { previewChange } from "../../workflows/accounts/preview_change.ts";
import { TASK } from "../../workflows/tasks/task.ts";
import { toPriceJson } from "../endpoints/list_prices.ts";
import { requireScope } from "./require_token.ts";
import { actorOf } from "./actor.ts";
import { type BodyEndpoint, type Endpoint, type HttpContext, sendJson } from "../exchange.ts";
import { readPage, sendJsonPage } from "../paging.ts";
import type { RouteDeps } from "../routes/route.ts";

/** POST /admin/v1/accounts */
export function createAccountEndpoint(deps: RouteDeps): BodyEndpoint<NewAccount> {
  return async function createAccountEndpoint(c, body) {
    requireMoneyScope(c, body);
    requireConfigured(c.env.config, body);
    const account = await audited(deps, actorOf(c), (change) => openAccount(change, body));
    return sendJson(JSON.stringify(account), 201);
  };
}

/** What an account has to pay is the business of those who may book money. */
function requireMoneyScope(c: HttpContext, { plan, price_book }: AccountChange): void {
  if (plan !== undefined) requireScope(c, "money", "plan");
  if (price_book !== undefined) requireScope(c, "money", "price_book");
}

/** GET /admin/v1/accounts */
export function listAccountsEndpoint({ database, requestLog }: RouteDeps): Endpoint {
  return async function listAccountsEndpoint(c) {
    const search = c.req.query("search")?.trim();
    if (search?.startsWith("req_")) await requestLog.flush();
    const { data, hasMore } = await listAccounts(database.sql, { ...readPage(c), search });
    return sendJsonPage(data, hasMore);
  };
}

/** GET /admin/v1/accounts/{id}, with its balance */
export function retrieveAccount({ database }: RouteDeps): Endpoint {
  return async function retrieveAccount(c) {
    const account = await findAccount(database.sql, c.req.param("id") ?? "");
    const { config } = c.env;
    const balance = await readBalance(database.sql, account.id, config.service.currency);
    return sendJson(
      JSON.stringify({ ...account, balance: withPlanDetails(balance, config.plans) }),
    );
  };
}

/** PATCH /admin/v1/accounts/{id}: responds when every node acts on the change. */
export function updateAccountEndpoint(deps: RouteDeps): BodyEndpoint<AccountChange> {
  return async function updateAccountEndpoint(c, body) {
    const id = c.req.param("id") ?? "";
    requireMoneyScope(c, body);
    requireConfigured(c.env.config, { ...body, price_book: body.price_book ?? undefined });
    const account = await audited(
      deps,
      actorOf(c),
      (change) =>
        changeAccount(
          change,
          id,
          body,
          (task) => deps.tasks.queue.notify({ kind: TASK, id: task }),
        ),
    );
    const { config } = c.env;
    const balance = await readBalance(deps.database.sql, id, config.service.currency);
    return sendJson(
      JSON.stringify({ ...account, balance: withPlanDetails(balance, config.plans) }),
    );
  };
}

/** GET /admin/v1/accounts/{id}/preview: what another plan or price book would mean. */
export function previewAccountEndpoint({ database }: RouteDeps): Endpoint {
  return async function previewAccountEndpoint(c) {
    const { plan, price_book } = c.req.query();
    requireConfigured(c.env.config, { plan, price_book: price_book || undefined });
    const account = await findAccount(database.sql, c.req.param("id") ?? "");
    // An empty name takes the book of its own away.
    const wanted = { plan, price_book: price_book === "" ? null : price_book };
    return sendJson(
      JSON.stringify(previewChange(c.env.config, account, wanted, toPriceJson)),
    );
  };
}
