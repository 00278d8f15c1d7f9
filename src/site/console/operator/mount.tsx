import type { SiteRouter } from "../../context.ts";
import { requireOperator } from "../../visitor.ts";
import type { ConsoleDeps } from "../deps.ts";
import { operatorAccountPage } from "./account.tsx";
import { creditAccount, planAccount, revokeAccountKey } from "./account_actions.ts";
import { setAccountStatus, updateAccountSettings } from "./account_changes.tsx";
import { AUDIT, auditPage } from "./audit.tsx";
import { ACCOUNTS, accountsPage, createAccountPage } from "./accounts.tsx";
import { configurationPage, reloadConfiguration } from "./configuration.tsx";
import { marginsPage } from "./margins.tsx";
import { providersPage } from "./providers.tsx";
import { OPERATOR_REQUESTS, operatorRequestPage, operatorRequestsPage } from "./requests.tsx";
import {
  createdTokenPage,
  createTokenPage,
  revokeTokenPage,
  TOKENS,
  tokensPage,
} from "./tokens.tsx";
import { queuePage, redeliverForOperator, replayTaskPage } from "./queue.tsx";

/** Pages over all accounts, for operators. Others get 404. */
export function mountOperator(site: SiteRouter, deps: ConsoleDeps): void {
  site.use("/console/operator/*", requireOperator);
  site.get(ACCOUNTS, accountsPage(deps));
  site.post(ACCOUNTS, createAccountPage(deps));
  site.get(`${ACCOUNTS}/:id`, operatorAccountPage(deps));
  site.post(`${ACCOUNTS}/:id/credits`, creditAccount(deps));
  site.post(`${ACCOUNTS}/:id/plan`, planAccount(deps));
  site.post(`${ACCOUNTS}/:id/settings`, updateAccountSettings(deps));
  for (const to of ["suspend", "resume", "close"] as const) {
    site.post(`${ACCOUNTS}/:id/${to}`, setAccountStatus(deps, to));
  }
  site.post(`${ACCOUNTS}/:id/keys/:key/revoke`, revokeAccountKey(deps));
  site.get(OPERATOR_REQUESTS, operatorRequestsPage(deps));
  site.get(`${OPERATOR_REQUESTS}/:id`, operatorRequestPage(deps));
  site.get(AUDIT, auditPage(deps));
  site.get(TOKENS, tokensPage(deps));
  site.post(TOKENS, createTokenPage(deps));
  site.get(`${TOKENS}/created`, createdTokenPage(deps));
  site.post(`${TOKENS}/:id/revoke`, revokeTokenPage(deps));
  site.get("/console/operator/margins", marginsPage(deps));
  site.get("/console/operator/configuration", configurationPage(deps));
  site.post("/console/operator/configuration/reload", reloadConfiguration(deps));
  site.get("/console/operator/providers", providersPage(deps));
  site.get("/console/operator/queue", queuePage(deps));
  site.post("/console/operator/queue/tasks/:id/replay", replayTaskPage(deps));
  site.post("/console/operator/queue/deliveries/:id/redeliver", redeliverForOperator(deps));
}
