import { isPipeline } from "../../model_types/model_types.ts";
import type { Route } from "../../platform/config/config.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import type { Webhooks } from "../../domain/webhooks/webhooks.ts";
import { requireFunds, requireFundsForLargeBody } from "../require_funds.ts";
import type { Endpoint } from "../exchange.ts";
import { retrieveBalance } from "./balance.ts";
import { chatCompletions, type ChatEndpointDeps } from "./chat_completions.ts";
import {
  deleteFile,
  type FilesDeps,
  listFiles,
  retrieveContent,
  retrieveFile,
  uploadFile,
} from "./files.ts";
import { createDrama } from "./create_drama.ts";
import { createGeneration } from "./create_generation.ts";
import { listModels } from "./list_models.ts";
import { listPrices } from "./list_prices.ts";
import { createQuote } from "./quotes.ts";
import { retrieveModel } from "./retrieve_model.ts";
import { createSpeech } from "./speech.ts";
import {
  cancelTaskEndpoint,
  followTaskEndpoint,
  listTasksEndpoint,
  retrieveTask,
  type TaskEndpointDeps,
} from "./tasks.ts";
import { listUsageEndpoint, retrieveReceipt } from "./usage.ts";
import { webhookDeliveries } from "./webhook_deliveries.ts";
import { webhookEndpoints } from "./webhook_endpoints.ts";

/** One method and path of an operation; `path` follows the route's own path. */
export interface Mount {
  method: "GET" | "POST" | "DELETE" | "PUT";
  path: string;
  endpoint: Endpoint;
}

/** Dependencies of all endpoints. */
export interface OperationDeps extends ChatEndpointDeps, FilesDeps, TaskEndpointDeps {
  database: Database;
  upstreams: Upstreams;
  webhooks: Webhooks;
}

type Operation = (deps: OperationDeps, route: Route) => Mount[];

const one = (
  method: Mount["method"],
  endpoint: Endpoint,
): Mount[] => [{ method, path: "", endpoint }];

/** The operations of this build, by the name that a route of the configuration gives. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["list_models", () => one("GET", listModels())],
  ["retrieve_model", () => one("GET", retrieveModel())],
  ["list_prices", () => one("GET", listPrices())],
  ["retrieve_balance", (deps) => one("GET", retrieveBalance(deps))],
  ["usage", (deps) => [
    { method: "GET", path: "", endpoint: listUsageEndpoint(deps) },
    { method: "GET", path: "/:request_id", endpoint: retrieveReceipt(deps) },
  ]],
  ["chat", (deps) => one("POST", requireFunds(deps, chatCompletions(deps)))],
  ["files", (deps) => [
    { method: "POST", path: "", endpoint: uploadFile(deps) },
    { method: "GET", path: "", endpoint: listFiles(deps) },
    { method: "GET", path: "/:file_id", endpoint: retrieveFile(deps) },
    { method: "DELETE", path: "/:file_id", endpoint: deleteFile(deps) },
    { method: "GET", path: "/:file_id/content", endpoint: retrieveContent(deps) },
  ]],
  ["webhook_endpoints", (deps) =>
    webhookEndpoints(deps).map(({ endpoint, ...mount }) => ({
      ...mount,
      endpoint: requireFundsForLargeBody(deps, endpoint),
    }))],
  ["webhook_deliveries", webhookDeliveries],
  ["speech", (deps, route) => one("POST", requireFunds(deps, createSpeech(deps, route)))],
  [
    "generation",
    (deps, route) =>
      one(
        "POST",
        requireFunds(deps, (isPipeline(route.type) ? createDrama : createGeneration)(deps, route)),
      ),
  ],
  ["tasks", (deps) => [
    { method: "GET", path: "", endpoint: listTasksEndpoint(deps) },
    { method: "GET", path: "/:task_id", endpoint: retrieveTask(deps) },
    { method: "POST", path: "/:task_id/cancel", endpoint: cancelTaskEndpoint(deps) },
    { method: "GET", path: "/:task_id/events", endpoint: followTaskEndpoint(deps) },
  ]],
  ["quotes", (deps) => one("POST", requireFundsForLargeBody(deps, createQuote(deps)))],
]);
