import type { SiteRouter } from "../../context.ts";
import { mustBeOperator } from "../../visitor.ts";
import type { ConsoleDeps } from "../deps.ts";
import { creditAccount, operatorAccountPage, planAccount, revokeAccountKey } from "./account.tsx";
import { ACCOUNTS, accountsPage, createAccountPage } from "./accounts.tsx";
import { configurationPage, reloadConfiguration } from "./configuration.tsx";
import { marginsPage } from "./margins.tsx";
import { providersPage } from "./providers.tsx";
import { redeliverForOperator, replayPage, workPage } from "./work.tsx";

/** What concerns everybody: for people who are marked as operators. To others it does not exist. */
export function mountOperator(site: SiteRouter, deps: ConsoleDeps): void {
  site.use("/console/operator/*", mustBeOperator);
  site.get(ACCOUNTS, accountsPage(deps));
  site.post(ACCOUNTS, createAccountPage(deps));
  site.get(`${ACCOUNTS}/:id`, operatorAccountPage(deps));
  site.post(`${ACCOUNTS}/:id/credits`, creditAccount(deps));
  site.post(`${ACCOUNTS}/:id/plan`, planAccount(deps));
  site.post(`${ACCOUNTS}/:id/keys/:key/revoke`, revokeAccountKey(deps));
  site.get("/console/operator/margins", marginsPage(deps));
  site.get("/console/operator/declaration", configurationPage(deps));
  site.post("/console/operator/declaration/reload", reloadConfiguration(deps));
  site.get("/console/operator/providers", providersPage(deps));
  site.get("/console/operator/work", workPage(deps));
  site.post("/console/operator/work/tasks/:id/replay", replayPage(deps));
  site.post("/console/operator/work/deliveries/:id/redeliver", redeliverForOperator(deps));
}
