import { STATUSES } from "../../workflows/tasks/task.ts";
import { SHOWN_TASK_TYPES } from "../../model_types/model_types.ts";
import {
  cancelTaskEndpoint,
  followTaskEndpoint,
  listTasksEndpoint,
  retrieveTask,
} from "../endpoints/tasks.ts";
import { choice, inPath, PAGE } from "./parameters.ts";
import { content, json, operationRoute, type RouteArea } from "./route.ts";
import { SAMPLE } from "./sample_ids.ts";

const TASK_ID = inPath("task_id", "Id of the task.");
const TASKS_OPERATION = { operation: "tasks", auth: "api_key" } as const;

export const taskRoutes: RouteArea = {
  title: "Tasks",
  routes: [
    operationRoute({
      ...TASKS_OPERATION,
      method: "GET",
      path: "/tasks",
      summary: "List your tasks",
      parameters: [
        ...PAGE,
        choice("type", "Only tasks of this model type.", SHOWN_TASK_TYPES),
        choice("status", "Only tasks with this status.", STATUSES),
      ],
      responses: { 200: json("TaskList", "The tasks, newest first.") },
      example: { query: { status: "succeeded", limit: 10 } },
      handler: listTasksEndpoint,
    }),
    operationRoute({
      ...TASKS_OPERATION,
      method: "GET",
      path: "/tasks/{task_id}",
      summary: "Retrieve a task",
      description: "Every response has newly signed URLs of the outputs.",
      parameters: [TASK_ID],
      responses: { 200: json("Task", "The task.") },
      example: { path: { task_id: SAMPLE.task } },
      handler: retrieveTask,
    }),
    operationRoute({
      ...TASKS_OPERATION,
      method: "POST",
      path: "/tasks/{task_id}/cancel",
      summary: "Cancel a task",
      parameters: [TASK_ID],
      responses: {
        200: json("Task", "The task has ended."),
        202: json("Task", "The provider is being asked to cancel the task."),
      },
      example: { path: { task_id: SAMPLE.task } },
      handler: cancelTaskEndpoint,
    }),
    operationRoute({
      ...TASKS_OPERATION,
      method: "GET",
      path: "/tasks/{task_id}/events",
      summary: "Follow a task",
      description:
        "The data of each event is the task: now, and after every change until it has ended.",
      parameters: [TASK_ID],
      responses: { 200: content("text/event-stream", "Server-sent events.") },
      example: { path: { task_id: SAMPLE.task } },
      handler: followTaskEndpoint,
    }),
  ],
};
