import { MODEL_TYPES } from "../../model_types/model_types.ts";
import { followTask } from "../../workflows/tasks/await_task.ts";
import { cancelTask } from "../../workflows/tasks/cancel_task.ts";
import type { TaskDeps } from "../../workflows/tasks/deps.ts";
import { findTask, listTasks, taskNotFound } from "../../workflows/tasks/find_task.ts";
import { type RenderedTask, renderTask } from "../../workflows/tasks/render_task.ts";
import { STATUSES, TASK, type TaskRow } from "../../workflows/tasks/task.ts";
import { readChoice } from "../read_choice.ts";
import { accountOf, type Endpoint, type HttpContext, sendJson } from "../exchange.ts";
import { readPage, sendJsonPage } from "../paging.ts";
import type { Stop } from "../watch_stop.ts";
import type { TaskWaits } from "../task_waits.ts";

export interface TaskEndpointDeps {
  tasks: TaskDeps;
  /** Aborts when the client disconnects, this node drains, or the account is suspended. */
  stopping(c: HttpContext): Stop;
  waits: TaskWaits;
}

/** GET /v1/tasks: tasks of the account, newest first. */
export function listTasksEndpoint(deps: TaskEndpointDeps): Endpoint {
  return async function listTasksEndpoint(c) {
    const type = readChoice(c, "type", MODEL_TYPES);
    const status = readChoice(c, "status", STATUSES);
    const query = { ...readPage(c), account: accountOf(c).id, type, status };
    const { rows, hasMore } = await listTasks(deps.tasks.database.sql, query);
    return sendJsonPage(rows.map((row) => toTaskJson(deps, c, row)), hasMore);
  };
}

/** GET /v1/tasks/{task_id}; output URLs are signed anew. */
export function retrieveTask(deps: TaskEndpointDeps): Endpoint {
  return async function retrieveTask(c) {
    const row = await findTask(deps.tasks.database.sql, accountOf(c).id, idOf(c));
    if (row === null) throw taskNotFound();
    // Where nodes sleep without requests, a request for the task wakes it.
    if (row.is_late) deps.tasks.queue.notify({ kind: TASK, id: row.id });
    return sendJson(JSON.stringify(toTaskJson(deps, c, row)));
  };
}

/** POST /v1/tasks/{task_id}/cancel: 200 when it has ended, 202 while the upstream is asked to cancel. */
export function cancelTaskEndpoint(deps: TaskEndpointDeps): Endpoint {
  return async function cancelTaskEndpoint(c) {
    const { row, isPending } = await cancelTask(deps.tasks, accountOf(c).id, idOf(c));
    return sendJson(JSON.stringify(toTaskJson(deps, c, row)), isPending ? 202 : 200);
  };
}

const EVENT_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

/** GET /v1/tasks/{task_id}/events: the task, and again after every change, until it ends. */
export function followTaskEndpoint(deps: TaskEndpointDeps): Endpoint {
  return async function followTaskEndpoint(c) {
    const release = deps.waits.take(c);
    const stop = deps.stopping(c);
    const rows = releasing(
      () => {
        stop[Symbol.dispose]();
        release();
      },
      followTask(deps.tasks, accountOf(c).id, idOf(c), stop.signal),
    );
    // Read before the response: an unknown task is an error, not an empty stream.
    const first = await rows.next();
    const event = (row: TaskRow | null) =>
      row === null ? ": still here\n\n" : `data: ${JSON.stringify(toTaskJson(deps, c, row))}\n\n`;
    const events = new ReadableStream<string>({
      start(controller) {
        if (!first.done) controller.enqueue(event(first.value));
      },
      async pull(controller) {
        const { done, value } = await rows.next();
        if (done) controller.close();
        else controller.enqueue(event(value));
      },
      async cancel() {
        await rows.return(undefined);
      },
    });
    return new Response(events.pipeThrough(new TextEncoderStream()), { headers: EVENT_HEADERS });
  };
}

/** Releases its slot when it ends. */
async function* releasing<T>(release: () => void, rows: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* rows;
  } finally {
    release();
  }
}

export function toTaskJson(deps: TaskEndpointDeps, c: HttpContext, row: TaskRow): RenderedTask {
  const { service, storage } = c.env.config;
  return renderTask(row, {
    files: deps.tasks.files,
    currency: service.currency,
    keepDays: storage.outputs.keepDays,
    now: Date.now(),
  });
}

function idOf(c: HttpContext): string {
  return c.req.param("task_id") ?? "";
}
