import { readBalance } from "../../domain/ledger/balance.ts";
import { addCredit } from "../../domain/ledger/credit.ts";
import { setPlan } from "../../domain/ledger/plans.ts";
import { verifyLedger } from "../../domain/ledger/verify.ts";
import { findAccount } from "../../domain/accounts/accounts.ts";
import { TASK_RULES } from "../../workflows/tasks/verify_tasks.ts";
import { bodySchema } from "../body_schema.ts";
import { readPeriod, sendStatement } from "../endpoints/usage.ts";
import { type Endpoint, sendJson } from "../exchange.ts";
import { readJson } from "../read_json.ts";
import { requireConfigured } from "../../domain/accounts/require_configured.ts";
import type { AdminDeps } from "./mount.ts";
import creditSchema from "../../../schemas/requests/admin_credits.schema.json" with {
  type: "json",
};
import planSchema from "../../../schemas/requests/admin_plan.schema.json" with { type: "json" };

interface NewCredit {
  kind: "cash" | "gift";
  amount: string;
  reference: string;
  expires_at?: string;
}

const newCredit = bodySchema<NewCredit>(creditSchema);
const newPlan = bodySchema<{ plan: string; expires_at?: string }>(planSchema);

/** POST /admin/v1/accounts/{id}/credits: 201 when booked, 200 when the reference was booked before. */
export function createCredit({ database }: AdminDeps): Endpoint {
  return async function createCredit(c) {
    const { kind, amount, reference, expires_at } = newCredit(await readJson(c));
    const account = c.req.param("id") ?? "";
    const expiresAt = expires_at === undefined ? undefined : new Date(expires_at);
    const { isFirst } = await addCredit(database.sql, {
      account,
      kind,
      amount,
      reference,
      expiresAt,
    });
    const after = await readBalance(database.sql, account, c.env.config.service.currency);
    const booked = {
      object: "credit",
      account,
      kind,
      amount,
      reference,
      expires_at: expires_at ?? null,
      replayed: !isFirst,
    };
    return sendJson(JSON.stringify({ ...booked, balance: after }), isFirst ? 201 : 200);
  };
}

/** PUT /admin/v1/accounts/{id}/plan */
export function updatePlan({ database, cluster }: AdminDeps): Endpoint {
  return async function updatePlan(c) {
    const { plan, expires_at } = newPlan(await readJson(c));
    requireConfigured(c.env.config, { plan });
    const account = c.req.param("id") ?? "";
    const expiresAt = expires_at === undefined ? undefined : new Date(expires_at);
    await setPlan(database, cluster, { account, plan, expiresAt });
    const after = await readBalance(database.sql, account, c.env.config.service.currency);
    return sendJson(
      JSON.stringify({ ...await findAccount(database.sql, account), balance: after }),
    );
  };
}

/** GET /admin/v1/accounts/{id}/statement, as CSV */
export function retrieveStatement({ database }: AdminDeps): Endpoint {
  return async function retrieveStatement(c) {
    const { id } = await findAccount(database.sql, c.req.param("id") ?? "");
    return sendStatement(database, id, readPeriod(c));
  };
}

/** GET /admin/v1/ledger/verify */
export function verifyLedgerEndpoint({ database }: AdminDeps): Endpoint {
  return async function verifyLedgerEndpoint() {
    return sendJson(JSON.stringify(await verifyLedger(database.sql, TASK_RULES)));
  };
}
