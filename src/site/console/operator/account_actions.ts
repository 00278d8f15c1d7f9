import { listKeys, revokeKey } from "../../../domain/accounts/api_keys.ts";
import { addCredit } from "../../../domain/ledger/credit.ts";
import { setPlan } from "../../../domain/ledger/plans.ts";
import { ApiError } from "../../../lib/api_error.ts";
import type { SiteContext } from "../../context.ts";
import { readSiteForm } from "../../form.ts";
import { type FieldLabels, toFormError } from "../../form_error.ts";
import { formatMoney } from "../../format.ts";
import { seeOtherWith } from "../../respond.ts";
import type { ConsoleDeps } from "../deps.ts";
import { sendAccount } from "./account.tsx";
import { ACCOUNTS } from "./accounts.tsx";

const REFERENCE_MAX = 200;
const CREDIT_LABELS: FieldLabels = {
  amount: "Amount",
  reference: "Reference",
  expires_at: "Expires on",
};
const PLAN_LABELS: FieldLabels = { plan: "Plan", expires_at: "Ends on" };

/** POST /console/operator/accounts/{id}/credits: each reference is booked once. */
export function creditAccount(deps: ConsoleDeps) {
  return async function creditAccount(c: SiteContext): Promise<Response> {
    const account = c.req.param("id") ?? "";
    const form = await readSiteForm(c);
    const reference = (form.reference ?? "").trim();
    try {
      if (reference === "" || reference.length > REFERENCE_MAX) {
        throw new ApiError(
          "invalid_value",
          `reference must be 1 to ${REFERENCE_MAX} characters, such as an invoice number.`,
          { param: "reference" },
        );
      }
      const kind = form.kind === "gift" ? "gift" : "cash";
      const amount = (form.amount ?? "").trim();
      const expiresAt = readDay(form.expires_at);
      const { isFirst } = await addCredit(deps.database.sql, {
        account,
        kind,
        amount,
        reference,
        expiresAt,
      });
      const text = formatMoney(amount, c.env.config.service);
      return seeOtherWith(
        c,
        `${ACCOUNTS}/${account}`,
        isFirst ? "good" : "info",
        isFirst
          ? `Added ${text} ${kind === "gift" ? "promotional credit" : "cash"} (${reference}).`
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
    const { plan = "", ends_at } = await readSiteForm(c);
    try {
      const known = c.env.config.plans.get(plan);
      if (known === undefined) {
        throw new ApiError("invalid_value", "plan is unknown.", { param: "plan" });
      }
      const expiresAt = readDay(ends_at);
      await setPlan(deps.database, deps.cluster, { account, plan, expiresAt });
      return seeOtherWith(c, `${ACCOUNTS}/${account}`, "good", `Plan set to ${known.name}.`);
    } catch (error) {
      return await sendAccount(deps, c, { plan: toFormError(error, PLAN_LABELS) });
    }
  };
}

/** POST /console/operator/accounts/{id}/keys/{key}/revoke */
export function revokeAccountKey({ database, cluster }: ConsoleDeps) {
  return async function revokeAccountKey(c: SiteContext): Promise<Response> {
    const [account, id] = [c.req.param("id") ?? "", c.req.param("key") ?? ""];
    const key = (await listKeys(database.sql, account)).find((each) => each.id === id);
    if (key === undefined) throw new ApiError("not_found", "There is no such key.");
    await revokeKey(database, cluster, id);
    return seeOtherWith(c, `${ACCOUNTS}/${account}`, "good", `API key revoked: ${key.name}`);
  };
}

function readDay(day: string | undefined): Date | undefined {
  if (day === undefined || day === "") return undefined;
  const read = new Date(`${day}T00:00:00Z`);
  if (!/^(?!0000)\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(read.getTime())) {
    throw new ApiError("invalid_value", "expires_at must be a date such as 2027-01-31.", {
      param: "expires_at",
    });
  }
  return read;
}
