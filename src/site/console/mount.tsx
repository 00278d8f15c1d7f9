import type { SiteRouter } from "../context.ts";
import { billingPage, statementCsv } from "./billing.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { createKeyPage, keysPage, revokeKeyPage } from "./keys.tsx";
import { modelPage } from "./model.tsx";
import { modelsPage } from "./models.tsx";
import { overview } from "./overview.tsx";
import { mountOperator } from "./operator/mount.tsx";
import { receiptPage } from "./receipt.tsx";
import { callApi, quoteModel, runModel } from "./run_model.tsx";

/** The console: every page is behind sign-in already. */
export function mountConsole(site: SiteRouter, deps: ConsoleDeps): void {
  site.get("/console", overview(deps));
  site.get("/console/keys", keysPage(deps));
  site.post("/console/keys", createKeyPage(deps));
  site.post("/console/keys/:id/revoke", revokeKeyPage(deps));
  site.get("/console/models", modelsPage(deps));
  site.get("/console/models/:id", modelPage(deps));
  site.post("/console/models/:id/run", runModel(deps));
  site.post("/console/models/:id/quote", quoteModel(deps));
  site.all("/console/api/*", callApi(deps));

  site.get("/console/billing", billingPage(deps));
  site.get("/console/billing/statement.csv", statementCsv(deps));
  site.get("/console/billing/receipts/:id", receiptPage(deps));
  mountOperator(site, deps);
}
