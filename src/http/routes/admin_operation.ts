import { MODEL_TYPES } from "../../model_types/model_types.ts";
import { TASK_PROBLEMS } from "../../workflows/tasks/operate_tasks.ts";
import { STATUSES } from "../../workflows/tasks/task.ts";
import { reloadConfig, retrieveConfig } from "../admin/config.ts";
import { listProviders } from "../admin/providers.ts";
import { retrieveStorage, sweepStorageEndpoint } from "../admin/storage.ts";
import {
  listTasksForOperator,
  replayTaskEndpoint,
  retrieveTaskForOperator,
} from "../admin/tasks.ts";
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
      description: "A file with errors changes nothing; the error lists all of them.",
      responses: { 200: json("Config", "The configuration was reloaded.") },
      example: {},
      handler: reloadConfig,
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
