import type { ResponseTask, StoredResponse } from "../../domain/responses/response_store.ts";
import { cancelTask } from "../../workflows/tasks/cancel_task.ts";
import { TASK } from "../../workflows/tasks/task.ts";
import { toCurrentResponse } from "../dialects/responses/background.ts";
import { readRecord } from "../dialects/responses/load_items.ts";
import { toClientItems } from "../dialects/responses/response_object.ts";
import { invalidField, type JsonFields, notSupported } from "../dialects/translated.ts";
import { accountOf, type Endpoint, type HttpContext, sendJson } from "../exchange.ts";
import { readPage, sendJsonPage } from "../paging.ts";
import { noSuchResponse, requireResponse, type ResponsesDeps } from "./stored_responses.ts";
import type { TaskEndpointDeps } from "./tasks.ts";

/** GET /v1/responses/{response_id} */
export function retrieveResponse(deps: ResponsesDeps & TaskEndpointDeps): Endpoint {
  return async function retrieveResponse(c) {
    if (c.req.query("stream") === "true") {
      throw notSupported(
        "stream",
        "is not supported here: retrieve the response when it has ended",
      );
    }
    const stored = await requireResponse(deps, c, idOf(c));
    // Where nodes sleep without requests, a request for the response wakes its task.
    if (stored.task?.isLate) deps.tasks.queue.notify({ kind: TASK, id: stored.task.id });
    return sendResponse(c, stored);
  };
}

function sendResponse(c: HttpContext, stored: StoredResponse): Response {
  const response = toCurrentResponse(readRecord(stored).response, stored.task);
  const include = c.req.queries("include[]") ?? c.req.queries("include") ?? [];
  const output = toClientItems(response.output, include.includes("reasoning.encrypted_content"));
  return sendJson(JSON.stringify({ ...response, output }));
}

/** DELETE /v1/responses/{response_id}: one that has not ended is cancelled first. */
export function deleteResponse(deps: ResponsesDeps & TaskEndpointDeps): Endpoint {
  return async function deleteResponse(c) {
    const { id, task } = await requireResponse(deps, c, idOf(c));
    const account = accountOf(c).id;
    if (isOpen(task)) await cancelTask(deps.tasks, account, task.id);
    if (!await deps.responses.store.delete(account, id)) throw noSuchResponse();
    return sendJson(JSON.stringify({ id, object: "response", deleted: true }));
  };
}

/** GET /v1/responses/{response_id}/input_items */
export function listInputItems(deps: ResponsesDeps): Endpoint {
  return async function listInputItems(c) {
    const { input } = readRecord(await requireResponse(deps, c, idOf(c)));
    const { limit, after, order } = readPage(c);
    const items = input as readonly (JsonFields & { id: string })[];
    const ordered = order === "asc" ? [...items] : items.toReversed();
    const start = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
    const page = ordered.slice(start, start + limit);
    return sendJsonPage(page, start + limit < ordered.length);
  };
}

/** POST /v1/responses/{response_id}/cancel: one that has ended is returned as it is. */
export function cancelResponse(deps: ResponsesDeps & TaskEndpointDeps): Endpoint {
  return async function cancelResponse(c) {
    const stored = await requireResponse(deps, c, idOf(c));
    if (stored.task === null) {
      throw invalidField(
        "response_id",
        "must be a response that was created with background: true",
      );
    }
    if (!isOpen(stored.task)) return sendResponse(c, stored);
    await cancelTask(deps.tasks, accountOf(c).id, stored.task.id);
    return sendResponse(c, await requireResponse(deps, c, idOf(c)));
  };
}

function isOpen(task: ResponseTask | null): task is ResponseTask {
  return task?.status === "queued" || task?.status === "running";
}

function idOf(c: HttpContext): string {
  return c.req.param("response_id")!;
}
