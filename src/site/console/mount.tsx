import type { SiteRouter } from "../context.ts";
import { mustBeOperator } from "../visitor.ts";
import type { ConsoleDeps } from "./deps.ts";
import { createKeyPage, keysPage, revokeKeyPage } from "./keys.tsx";
import { modelPage } from "./model.tsx";
import { modelsPage } from "./models.tsx";
import { overview } from "./overview.tsx";
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

  site.use("/console/operator/*", mustBeOperator);
}
