import { MODEL_TYPES } from "../../lib/model_types.ts";
import {
  AILMENTS,
  findForOperator,
  listForOperator,
  replayTask,
} from "../../workflows/tasks/operate_tasks.ts";
import { STATUSES } from "../../workflows/tasks/task.ts";
import { chosen } from "../choice.ts";
import { type Endpoint, sendJson } from "../exchange.ts";
import { readPage, sendPage } from "../paging.ts";
import type { AdminDeps } from "./mount.ts";

/** GET /admin/v1/tasks, of every account; `?ailment=` finds those that are stuck, `?parent=` a chain's parts. */
export function listTasksForOperator({ database }: AdminDeps): Endpoint {
  return async function listTasksForOperator(c) {
    const { data, hasMore } = await listForOperator(database.sql, {
      ...readPage(c),
      account: c.req.query("account"),
      type: chosen(c, "type", MODEL_TYPES),
      status: chosen(c, "status", STATUSES),
      ailment: chosen(c, "ailment", AILMENTS),
      parent: c.req.query("parent"),
    });
    return sendPage(data, hasMore);
  };
}

/** GET /admin/v1/tasks/{id} */
export function retrieveTaskForOperator({ database }: AdminDeps): Endpoint {
  return async function retrieveTaskForOperator(c) {
    return sendJson(JSON.stringify(await findForOperator(database.sql, c.req.param("id") ?? "")));
  };
}

/** POST /admin/v1/tasks/{id}/replay: looks at it now, as if nothing had gone wrong. */
export function replayTaskEndpoint({ tasks }: AdminDeps): Endpoint {
  return async function replayTaskEndpoint(c) {
    return sendJson(JSON.stringify(await replayTask(tasks, c.req.param("id") ?? "")), 202);
  };
}
