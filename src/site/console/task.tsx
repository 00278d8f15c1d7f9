import { cancelTask } from "../../workflows/tasks/cancel_task.ts";
import { findTask, taskNotFound } from "../../workflows/tasks/find_task.ts";
import { type RenderedTask, renderTask } from "../../workflows/tasks/render_task.ts";
import { isOver } from "../../workflows/tasks/task.ts";
import { listDeliveries } from "../../domain/webhooks/deliveries.ts";
import { personOf, type SiteContext } from "../context.ts";
import { Form, Notice } from "../parts.tsx";
import { seeOtherWith, sendHtml } from "../respond.ts";
import { DeliveryTable } from "./delivery_table.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { duration, moment } from "./format.ts";
import { ReceiptCard } from "./receipt.tsx";
import { Head, sendConsole } from "./shell.tsx";
import { Outputs, Stages, type StageView } from "./task_outputs.tsx";
import { TaskState } from "./tasks.tsx";
import { TypeMark } from "./type_mark.tsx";

const PATH = "/console/tasks";

/** GET /console/tasks/{id} */
export function taskPage({ database, tasks }: ConsoleDeps) {
  return async function taskPage(c: SiteContext): Promise<Response> {
    const { account } = personOf(c);
    const task = await readTask({ database, tasks }, c);
    const { data: deliveries } = await listDeliveries(database.sql, {
      account,
      task: task.id,
      limit: 20,
      order: "desc",
    });
    const isLiving = !isOver(task.status);
    return sendConsole(
      c,
      { section: "tasks", title: `Task ${task.id}`, scripts: isLiving ? ["task"] : [] },
      <>
        <nav class="crumbs" aria-label="You are here">
          <a href={PATH}>Tasks</a>
        </nav>
        <Head
          title={
            <span class="row-tight">
              <TypeMark type={task.type} />
              {task.model}
              <TaskState status={task.status} />
            </span>
          }
          note={<span class="mono break">{task.id}</span>}
        >
          {isLiving && (
            <Form c={c} action={`${PATH}/${task.id}/cancel`} class="">
              <button type="submit" class="button button-danger-quiet">Cancel it</button>
            </Form>
          )}
        </Head>
        {isLiving && <Living task={task} />}
        {task.error !== null && (
          <Notice kind="bad">
            <strong>{task.error.message}</strong>
            <span class="small">
              <code>{task.error.code}</code>. Nothing was charged.
            </span>
          </Notice>
        )}
        {task.stages !== undefined && task.stages.length > 0
          ? <Stages stages={task.stages as unknown as readonly StageView[]} />
          : task.output.length > 0 && (
            <section class="card stack">
              <h2 class="card-title">Results</h2>
              <Outputs outputs={task.output} />
            </section>
          )}
        <div class="grid billing-grid">
          <section class="card stack">
            <h2 class="card-title">Times</h2>
            <dl class="facts facts-tight">
              <dt>Created</dt>
              <dd>{moment(task.created)}</dd>
              <dt>Started</dt>
              <dd>{task.started_at === null ? "not yet" : moment(task.started_at)}</dd>
              <dt>{isLiving ? "Ends at the latest" : "Ended"}</dt>
              <dd>
                {task.completed_at !== null
                  ? moment(task.completed_at)
                  : task.expires_at === null
                  ? ""
                  : moment(task.expires_at)}
              </dd>
              {task.completed_at !== null && (
                <>
                  <dt>Took</dt>
                  <dd>{duration(Date.parse(task.completed_at) / 1000 - task.created)}</dd>
                </>
              )}
              {task.status === "succeeded" && task.expires_at !== null && (
                <>
                  <dt>Results are kept until</dt>
                  <dd>{moment(task.expires_at)}</dd>
                </>
              )}
              <dt>Request</dt>
              <dd class="mono break">{task.request_id}</dd>
            </dl>
          </section>
          <ReceiptCard receipt={task.charge} title="Receipt" />
        </div>
        {deliveries.length > 0 && (
          <DeliveryTable title="Webhook deliveries" deliveries={deliveries} />
        )}
      </>,
    );
  };
}

/** GET /console/tasks/{id}/results: the part of the page that shows them, for other pages' scripts. */
export function taskResults(deps: ConsoleDeps) {
  return async function taskResults(c: SiteContext): Promise<Response> {
    const { output } = await readTask(deps, c);
    return sendHtml(String(<Outputs outputs={output} />), 200);
  };
}

async function readTask(
  { database, tasks }: Pick<ConsoleDeps, "database" | "tasks">,
  c: SiteContext,
): Promise<RenderedTask> {
  const { service, storage } = c.env.config;
  const row = await findTask(database.sql, personOf(c).account, c.req.param("id") ?? "");
  if (row === null) throw taskNotFound();
  return renderTask(row, {
    files: tasks.files,
    currency: service.currency,
    keepDays: storage.outputs.keepDays,
    now: Date.now(),
  });
}

/** POST /console/tasks/{id}/cancel */
export function cancelTaskPage({ tasks }: ConsoleDeps) {
  return async function cancelTaskPage(c: SiteContext): Promise<Response> {
    const id = c.req.param("id") ?? "";
    const { row, isPending } = await cancelTask(tasks, personOf(c).account, id);
    return seeOtherWith(
      c,
      `${PATH}/${id}`,
      isPending ? "info" : "good",
      isPending
        ? "Asked to stop: it ends when that is confirmed."
        : row.status === "cancelled"
        ? "Cancelled; what was held is given back."
        : `It is ${row.status} already.`,
    );
  };
}

function Living({ task }: { task: RenderedTask }) {
  return (
    <section class="card stack-s" data-task={task.id} data-status={task.status}>
      <p class="row-between">
        <span data-task-status role="status">
          {task.status === "queued" ? "Waiting for its turn" : `${task.progress} %`}
        </span>
        <a class="only-unscripted" href={`${PATH}/${task.id}`}>Look again</a>
      </p>
      <progress class="progress" max="100" value={task.progress} aria-label="Progress" />
    </section>
  );
}
