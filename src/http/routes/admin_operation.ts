import { MODEL_TYPES } from "../../model_types/model_types.ts";
import { TASK_PROBLEMS } from "../../workflows/tasks/operate_tasks.ts";
import { STATUSES } from "../../workflows/tasks/task.ts";
import { createBackup } from "../admin/backups.ts";
import { reloadConfig, retrieveConfig } from "../admin/config.ts";
import { planConfig, retrievePreviousConfig } from "../admin/config_plan.ts";
import { REQUESTS } from "../../../schemas/requests.ts";
import { listProviders, testProviderEndpoint } from "../admin/providers.ts";
import { rotateSecrets } from "../admin/secrets.ts";
import { retrieveStorage, sweepStorageEndpoint } from "../admin/storage.ts";
import {
  listTasksForOperator,
  replayTaskEndpoint,
  retrieveTaskForOperator,
} from "../admin/tasks.ts";
import { listUpstreams, WINDOW_NAMES } from "../admin/upstreams.ts";
import { requestBody } from "../request_body.ts";
import { choice, inPath, PAGE, query } from "./parameters.ts";
import { fixedRoute, json, type RouteArea } from "./route.ts";
import { SAMPLE } from "./sample_ids.ts";

const TASK_ID = inPath("id", "Id of the task.");

export const adminOperationRoutes: RouteArea = {
  title: "Configuration, providers, tasks and storage",
  routes: [
    fixedRoute({
      method: "GET",
      path: "/admin/v1/config",
      auth: "admin_token",
      scope: "read",
      summary: "Retrieve the active configuration",
      responses: { 200: json("Config", "The configuration, without secrets.") },
      example: {},
      handler: retrieveConfig,
    }),
    fixedRoute({
      method: "POST",
      path: "/admin/v1/config/reload",
      auth: "admin_token",
      scope: "configuration",
      summary: "Reload the configuration file",
      description:
        "A file with errors changes nothing; the error lists all of them. So does one without a plan or a price book that accounts use, unless it is forced.",
      parameters: [
        choice("force", "Also without plans and price books that are in use.", ["true", "false"]),
      ],
      responses: { 200: json("Config", "The configuration was reloaded.") },
      example: {},
      handler: reloadConfig,
    }),
    fixedRoute({
      method: "POST",
      path: "/admin/v1/config/plan",
      auth: "admin_token",
      scope: "configuration",
      summary: "Compare a configuration with the active or the previous one",
      description:
        "Compiled with the environment of this gateway. Nothing changes. A configuration with errors is a 200 with `ok: false`.",
      request: requestBody(REQUESTS.admin_config_plan),
      responses: { 200: json("ConfigPlan", "The changes, and every error and warning.") },
      example: { body: { against: "active" } },
      handler: planConfig,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/config/previous",
      auth: "admin_token",
      scope: "read",
      summary: "Retrieve the text of the previous configuration",
      responses: { 200: json("ConfigText", "The configuration as it was written.") },
      example: {},
      handler: retrievePreviousConfig,
    }),
    fixedRoute({
      method: "POST",
      path: "/admin/v1/backups",
      auth: "admin_token",
      scope: "root",
      summary: "Copy the embedded database while it runs",
      description:
        "Into `DATA_DIR/backups`, on the machine of the gateway. A server is backed up with its own tools.",
      responses: { 201: json("Backup", "Where the copy is.") },
      example: {},
      handler: createBackup,
    }),
    fixedRoute({
      method: "POST",
      path: "/admin/v1/secrets/rotate",
      auth: "admin_token",
      scope: "root",
      summary: "Seal all stored secrets with the first key",
      description: "`SECRETS_KEY` lists the keys: the first seals, all open. Harmless to repeat.",
      responses: { 200: json("SecretsRotation", "The number of secrets that were sealed again.") },
      example: {},
      handler: rotateSecrets,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/providers",
      auth: "admin_token",
      scope: "read",
      summary: "List providers and the health of their upstreams",
      responses: { 200: json("ProviderList", "The providers.") },
      example: {},
      handler: listProviders,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/upstreams",
      auth: "admin_token",
      scope: "read",
      summary: "List upstreams with success, latency and cost in a window",
      description: "Of all nodes: from the request log, tasks and receipts.",
      parameters: [choice("window", "How far back figures go; `1h` by default.", WINDOW_NAMES)],
      responses: { 200: json("UpstreamList", "The upstreams, by name.") },
      example: { query: { window: "24h" } },
      handler: listUpstreams,
    }),
    fixedRoute({
      method: "POST",
      path: "/admin/v1/providers/{id}/test",
      auth: "admin_token",
      scope: "configuration",
      summary: "Test a provider with one small request",
      description:
        "The request, for chat or embeddings, is real and costs what the provider charges for it; no account is charged. " +
        "A failure is a 200 with `ok: false`.",
      parameters: [inPath("id", "Name of the provider in the configuration.")],
      request: requestBody(REQUESTS.admin_provider_test),
      responses: { 200: json("ProviderTest", "What came back.") },
      example: { path: { id: "simulator" }, body: {} },
      handler: testProviderEndpoint,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/tasks",
      auth: "admin_token",
      scope: "read",
      summary: "List tasks of all accounts",
      parameters: [
        ...PAGE,
        query("account", "Only tasks of this account."),
        choice("type", "Only tasks of this model type.", MODEL_TYPES),
        choice("status", "Only tasks with this status.", STATUSES),
        choice(
          "problem",
          "`dead`: needs an operator. `failing`: its last step failed and will be retried. `late`: overdue for " +
            "its next step. Subtasks of dramas are listed too.",
          TASK_PROBLEMS,
        ),
        query("parent", "Only subtasks of this drama. Without it, subtasks are left out."),
      ],
      responses: { 200: json("OperatorTaskList", "The tasks, newest first.") },
      example: { query: { problem: "dead" } },
      handler: listTasksForOperator,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/tasks/{id}",
      auth: "admin_token",
      scope: "read",
      summary: "Retrieve a task with its upstream and last error",
      parameters: [TASK_ID],
      responses: { 200: json("OperatorTask", "The task.") },
      example: { path: { id: SAMPLE.task } },
      handler: retrieveTaskForOperator,
    }),
    fixedRoute({
      method: "POST",
      path: "/admin/v1/tasks/{id}/replay",
      auth: "admin_token",
      scope: "support",
      summary: "Run the next step of a stuck task now",
      description: "Its failures no longer count.",
      parameters: [TASK_ID],
      responses: { 202: json("OperatorTask", "The task, which is due now.") },
      example: { path: { id: SAMPLE.stuckTask } },
      handler: replayTaskEndpoint,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/storage",
      auth: "admin_token",
      scope: "read",
      summary: "Retrieve the sizes of all tables and what is removed when",
      responses: { 200: json("Storage", "The tables, largest first, and the archived months.") },
      example: {},
      handler: retrieveStorage,
    }),
    fixedRoute({
      method: "POST",
      path: "/admin/v1/storage/sweep",
      auth: "admin_token",
      scope: "configuration",
      summary: "Drop and archive what is over its time now",
      description: "The gateway does the same every hour. The response comes when all is done.",
      responses: { 200: json("StorageSweep", "What was removed.") },
      example: {},
      handler: sweepStorageEndpoint,
    }),
  ],
};
