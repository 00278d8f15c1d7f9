import type { SiteRouter } from "../context.ts";
import { billingPage, statementCsv } from "./billing.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { deliveryPage, redeliverPage } from "./delivery.tsx";
import { keyPage, updateKeyPage } from "./key.tsx";
import { createdKeyPage, createKeyPage, keysPage, revokeKeyPage } from "./keys.tsx";
import { modelPage } from "./model.tsx";
import { modelsPage } from "./models.tsx";
import { overviewPage } from "./overview.tsx";
import { mountOperator } from "./operator/mount.tsx";
import { requestPage, REQUESTS_PATH, requestsPage } from "./requests.tsx";
import { receiptPage } from "./receipt.tsx";
import { cancelTaskPage, taskPage, taskResults } from "./task.tsx";
import { tasksPage } from "./tasks.tsx";
import { USAGE_PATH, usagePage } from "./usage.tsx";
import { runWebhookAction, updateWebhook, webhookPage } from "./webhook.tsx";
import { rotateSecretPage, secretPage } from "./webhook_secret.tsx";
import { createWebhookPage, WEBHOOKS, webhooksPage } from "./webhooks.tsx";
import { proxyApi, quoteModel, runModel } from "./run_model.tsx";

/** The console. All its pages are behind sign-in. */
export function mountConsole(site: SiteRouter, deps: ConsoleDeps): void {
  site.get("/console", overviewPage(deps));
  site.get("/console/keys", keysPage(deps));
  site.post("/console/keys", createKeyPage(deps));
  site.get("/console/keys/created", createdKeyPage(deps));
  site.get("/console/keys/:id", keyPage(deps));
  site.post("/console/keys/:id", updateKeyPage(deps));
  site.post("/console/keys/:id/revoke", revokeKeyPage(deps));
  site.get("/console/models", modelsPage(deps));
  site.get("/console/models/:id", modelPage(deps));
  site.post("/console/models/:id/run", runModel(deps));
  site.post("/console/models/:id/quote", quoteModel(deps));
  site.all("/console/api/*", proxyApi(deps));

  site.get(REQUESTS_PATH, requestsPage(deps));
  site.get(`${REQUESTS_PATH}/:id`, requestPage(deps));
  site.get(USAGE_PATH, usagePage(deps));
  site.get("/console/tasks", tasksPage(deps));
  site.get("/console/tasks/:id", taskPage(deps));
  site.get("/console/tasks/:id/results", taskResults(deps));
  site.post("/console/tasks/:id/cancel", cancelTaskPage(deps));
  mountWebhooks(site, deps);
  site.get("/console/billing", billingPage(deps));
  site.get("/console/billing/statement.csv", statementCsv(deps));
  site.get("/console/billing/receipts/:id", receiptPage(deps));
  mountOperator(site, deps);
}

function mountWebhooks(site: SiteRouter, deps: ConsoleDeps): void {
  site.get(WEBHOOKS, webhooksPage(deps));
  site.post(WEBHOOKS, createWebhookPage(deps));
  // Before the routes of single endpoints, which would match these too.
  site.get(`${WEBHOOKS}/callback-secret`, secretPage(deps));
  site.post(`${WEBHOOKS}/callback-secret/rotate`, rotateSecretPage(deps));
  site.get(`${WEBHOOKS}/deliveries/:id`, deliveryPage(deps));
  site.post(`${WEBHOOKS}/deliveries/:id/redeliver`, redeliverPage(deps));
  site.get(`${WEBHOOKS}/:id`, webhookPage(deps));
  site.post(`${WEBHOOKS}/:id`, updateWebhook(deps));
  site.get(`${WEBHOOKS}/:id/secret`, secretPage(deps));
  site.post(`${WEBHOOKS}/:id/secret/rotate`, rotateSecretPage(deps));
  site.post(`${WEBHOOKS}/:id/:action`, runWebhookAction(deps));
}
