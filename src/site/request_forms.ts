import accountChange from "../../schemas/requests/admin_account_change.schema.json" with {
  type: "json",
};
import accounts from "../../schemas/requests/admin_accounts.schema.json" with { type: "json" };
import credits from "../../schemas/requests/admin_credits.schema.json" with { type: "json" };
import keys from "../../schemas/requests/admin_keys.schema.json" with { type: "json" };
import tokens from "../../schemas/requests/admin_tokens.schema.json" with { type: "json" };
import plan from "../../schemas/requests/admin_plan.schema.json" with { type: "json" };
import endpoints from "../../schemas/requests/webhook_endpoints.schema.json" with {
  type: "json",
};
import rotation from "../../schemas/requests/webhook_rotate_secret.schema.json" with {
  type: "json",
};
import type { AccountChange, NewKey } from "../../schemas/requests.ts";
import type { NewAdminToken } from "../domain/accounts/admin_tokens.ts";
import type { NewAccount } from "../domain/accounts/accounts.ts";
import type { EndpointFields } from "../domain/webhooks/endpoints.ts";
import { RequestForm } from "./request_form.ts";

/** Accounts, and the names and addresses of the people they belong to. */
export const accountForm = new RequestForm<NewAccount>(accounts);
export const accountChangeForm = new RequestForm<AccountChange>(accountChange);
export const keyForm = new RequestForm<NewKey>(keys);
export const adminTokenForm = new RequestForm<NewAdminToken>(tokens);
export const creditForm = new RequestForm<{
  kind: "cash" | "gift" | "correction";
  amount: string;
  reference: string;
  expires_at?: string;
  reason?: string;
}>(credits);
export const planForm = new RequestForm<{ plan: string; expires_at?: string }>(plan);
export const endpointForm = new RequestForm<EndpointFields>(endpoints);
export const rotationForm = new RequestForm<{ overlap_seconds?: number }>(rotation);
