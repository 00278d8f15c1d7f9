import type { NewCredit, NewPlan } from "../../../schemas/requests.ts";
import { readBalance, withPlanDetails } from "../../domain/ledger/balance.ts";
import { audited } from "../../domain/audit/audit.ts";
import { checkReason } from "../../domain/ledger/credit.ts";
import {
  bookCorrection,
  bookCredit,
  switchPlan,
} from "../../workflows/accounts/manage_accounts.ts";
import { verifyLedger } from "../../domain/ledger/verify.ts";
import { findAccount } from "../../domain/accounts/accounts.ts";
import { verifyArchives } from "../../workflows/retention/verify_archives.ts";
import { TASK_RULES } from "../../workflows/tasks/verify_tasks.ts";
import { readPeriod, sendStatement } from "../endpoints/usage.ts";
import { actorOf } from "./actor.ts";
import { type BodyEndpoint, type Endpoint, sendJson } from "../exchange.ts";
import { requireConfigured } from "../../domain/accounts/require_configured.ts";
import { readChoice } from "../read_choice.ts";
import type { RouteDeps } from "../routes/route.ts";

/** POST /admin/v1/accounts/{id}/credits: 201 when booked, 200 when the reference was booked before. */
export function createCredit(deps: RouteDeps): BodyEndpoint<NewCredit> {
  return async function createCredit(c, { kind, amount, reference, expires_at, reason }) {
    const account = c.req.param("id") ?? "";
    checkReason(kind, reason);
    const expiresAt = expires_at === undefined ? undefined : new Date(expires_at);
    const { currency } = c.env.config.service;
    const actor = actorOf(c);
    const booking = { account, amount, reference };
    const { isFirst, balance } = kind === "correction"
      ? await bookCorrection(deps, actor, { ...booking, reason: reason! }, currency)
      : await audited(
        deps,
        actor,
        (change) => bookCredit(change, { ...booking, kind, expiresAt }, currency),
      );
    const booked = {
      object: "credit",
      account,
      kind,
      amount,
      reference,
      expires_at: expires_at ?? null,
      reason: reason ?? null,
      replayed: !isFirst,
    };
    return sendJson(JSON.stringify({ ...booked, balance }), isFirst ? 201 : 200);
  };
}

/** PUT /admin/v1/accounts/{id}/plan */
export function updatePlan(deps: RouteDeps): BodyEndpoint<NewPlan> {
  return async function updatePlan(c, { plan, expires_at }) {
    requireConfigured(c.env.config, { plan });
    const id = c.req.param("id") ?? "";
    const expiresAt = expires_at === undefined ? undefined : new Date(expires_at);
    const account = await audited(
      deps,
      actorOf(c),
      (change) => switchPlan(change, { account: id, plan, expiresAt }),
    );
    const { plans, service } = c.env.config;
    const balance = await readBalance(deps.database.sql, id, service.currency);
    return sendJson(JSON.stringify({ ...account, balance: withPlanDetails(balance, plans) }));
  };
}

/** GET /admin/v1/accounts/{id}/statement, as CSV */
export function retrieveStatement({ database }: RouteDeps): Endpoint {
  return async function retrieveStatement(c) {
    const { id } = await findAccount(database.sql, c.req.param("id") ?? "");
    return sendStatement(database, { account: id, ...readPeriod(c), isForOperator: true });
  };
}

/** GET /admin/v1/ledger/verify */
export function verifyLedgerEndpoint({ database, retention }: RouteDeps): Endpoint {
  return async function verifyLedgerEndpoint(c) {
    const isReadingArchives = readChoice(c, "archives", ["true", "false"]) === "true";
    const { checks } = await verifyLedger(database.sql, TASK_RULES);
    if (isReadingArchives) checks.push(await verifyArchives(retention));
    return sendJson(JSON.stringify({ ok: checks.every(({ ok }) => ok), checks }));
  };
}
