import { requireConfigured } from "../../../domain/accounts/require_configured.ts";
import { listKeys } from "../../../domain/accounts/api_keys.ts";
import { audited } from "../../../domain/audit/audit.ts";
import { ApiError } from "../../../lib/api_error.ts";
import { checkReason } from "../../../domain/ledger/credit.ts";
import {
  bookCorrection,
  bookCredit,
  switchPlan,
} from "../../../workflows/accounts/manage_accounts.ts";
import { withdrawKey } from "../../../workflows/accounts/manage_keys.ts";
import { operatorOf } from "../../actor.ts";
import type { SiteContext } from "../../context.ts";
import { readSiteForm } from "../../form.ts";
import { type FieldLabels, toFormError } from "../../form_error.ts";
import { formatMoney } from "../../format.ts";
import { creditForm, planForm } from "../../request_forms.ts";
import { seeOtherWith } from "../../respond.ts";
import type { ConsoleDeps } from "../deps.ts";
import { sendAccount } from "./account.tsx";
import { ACCOUNTS } from "./accounts.tsx";

const CREDIT_LABELS: FieldLabels = {
  amount: "Amount",
  reference: "Reference",
  expires_at: "Expires on",
  reason: "Reason",
};
const KINDS = { cash: "cash", gift: "promotional credit", correction: "as a correction" } as const;
const PLAN_LABELS: FieldLabels = { plan: "Plan", expires_at: "Ends on" };

/** POST /console/operator/accounts/{id}/credits: each reference is booked once. */
export function creditAccount(deps: ConsoleDeps) {
  return async function creditAccount(c: SiteContext): Promise<Response> {
    const account = c.req.param("id") ?? "";
    const form = await readSiteForm(c);
    try {
      const { kind, amount, reference, expires_at, reason } = creditForm.read(
        form,
        startOfDay(form.expires_at),
      );
      const expiresAt = expires_at === undefined ? undefined : new Date(expires_at);
      checkReason(kind, reason);
      const { currency } = c.env.config.service;
      const actor = operatorOf(c);
      const booking = { account, amount, reference };
      const { isFirst } = kind === "correction"
        ? await bookCorrection(deps, actor, { ...booking, reason: reason! }, currency)
        : await audited(
          deps,
          actor,
          (change) => bookCredit(change, { ...booking, kind, expiresAt }, currency),
        );
      const text = formatMoney(amount, c.env.config.service);
      return seeOtherWith(
        c,
        `${ACCOUNTS}/${account}`,
        isFirst ? "good" : "info",
        isFirst
          ? `Added ${text} ${KINDS[kind]} (${reference}).`
          : `${reference} was already booked. Nothing was added.`,
      );
    } catch (error) {
      return await sendAccount(deps, c, { credit: toFormError(error, CREDIT_LABELS), form });
    }
  };
}

/** POST /console/operator/accounts/{id}/plan */
export function planAccount(deps: ConsoleDeps) {
  return async function planAccount(c: SiteContext): Promise<Response> {
    const account = c.req.param("id") ?? "";
    const form = await readSiteForm(c);
    try {
      const { plan, expires_at } = planForm.read(form, startOfDay(form.ends_at));
      requireConfigured(c.env.config, { plan });
      const expiresAt = expires_at === undefined ? undefined : new Date(expires_at);
      await audited(
        deps,
        operatorOf(c),
        (change) => switchPlan(change, { account, plan, expiresAt }),
      );
      const { name } = c.env.config.plans.get(plan)!;
      return seeOtherWith(c, `${ACCOUNTS}/${account}`, "good", `Plan set to ${name}.`);
    } catch (error) {
      return await sendAccount(deps, c, { plan: toFormError(error, PLAN_LABELS) });
    }
  };
}

/** POST /console/operator/accounts/{id}/keys/{key}/revoke */
export function revokeAccountKey(deps: ConsoleDeps) {
  return async function revokeAccountKey(c: SiteContext): Promise<Response> {
    const [account, id] = [c.req.param("id") ?? "", c.req.param("key") ?? ""];
    const key = (await listKeys(deps.database.sql, account)).find((each) => each.id === id);
    if (key === undefined) throw new ApiError("not_found", "There is no such key.");
    await audited(deps, operatorOf(c), (change) => withdrawKey(change, id));
    return seeOtherWith(c, `${ACCOUNTS}/${account}`, "good", `API key revoked: ${key.name}`);
  };
}

/** A day of a form as the API writes times: it begins at midnight, UTC. */
function startOfDay(day: string | undefined): { expires_at?: string } {
  return day === undefined || day === "" ? {} : { expires_at: `${day}T00:00:00Z` };
}
