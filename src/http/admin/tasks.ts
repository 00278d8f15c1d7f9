import { MODEL_TYPES } from "../../model_types/model_types.ts";
import {
  findForOperator,
  listForOperator,
  replayTask,
  TASK_PROBLEMS,
} from "../../workflows/tasks/operate_tasks.ts";
import { STATUSES } from "../../workflows/tasks/task.ts";
import { writeAudit } from "../../domain/audit/audit.ts";
import { actorOf } from "./actor.ts";
import { readChoice } from "../read_choice.ts";
import { type Endpoint, sendJson } from "../exchange.ts";
import { readPage, sendJsonPage } from "../paging.ts";
import type { RouteDeps } from "../routes/route.ts";

/** GET /admin/v1/tasks, of every account; `?problem=` finds stuck tasks, `?parent=` the subtasks of a drama. */
export function listTasksForOperator({ database }: RouteDeps): Endpoint {
  return async function listTasksForOperator(c) {
    const { data, hasMore } = await listForOperator(database.sql, {
      ...readPage(c),
      account: c.req.query("account"),
      type: readChoice(c, "type", MODEL_TYPES),
      status: readChoice(c, "status", STATUSES),
      problem: readChoice(c, "problem", TASK_PROBLEMS),
      parent: c.req.query("parent"),
    });
    return sendJsonPage(data, hasMore);
  };
}

/** GET /admin/v1/tasks/{id} */
export function retrieveTaskForOperator({ database }: RouteDeps): Endpoint {
  return async function retrieveTaskForOperator(c) {
    return sendJson(JSON.stringify(await findForOperator(database.sql, c.req.param("id") ?? "")));
  };
}

/** POST /admin/v1/tasks/{id}/replay: runs the task's next step now and clears its failures. */
export function replayTaskEndpoint({ tasks, database }: RouteDeps): Endpoint {
  return async function replayTaskEndpoint(c) {
    const task = await replayTask(tasks, c.req.param("id") ?? "");
    const { id, account } = task;
    await writeAudit(database.sql, actorOf(c), { action: "task.replay", account, subject: id });
    return sendJson(JSON.stringify(task), 202);
  };
}
