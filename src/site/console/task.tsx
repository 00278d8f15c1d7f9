import { listKeys } from "../../domain/accounts/api_keys.ts";
import { cancelTask } from "../../workflows/tasks/cancel_task.ts";
import { findTask, taskNotFound } from "../../workflows/tasks/find_task.ts";
import { type RenderedTask, renderTask } from "../../workflows/tasks/render_task.ts";
import { isOver, receiptOf } from "../../workflows/tasks/task.ts";
import { findTaskRequest, type TaskRequest } from "../../workflows/tasks/task_request.ts";
import { type Receipt, toReceipt } from "../../domain/ledger/receipt.ts";
import { listDeliveries } from "../../domain/webhooks/deliveries.ts";
import { writeAudit } from "../../domain/audit/audit.ts";
import { memberOf } from "../actor.ts";
import { personOf, type SiteContext } from "../context.ts";
import { formatDuration, type MoneyFormat } from "../format.ts";
import { Form, Notice } from "../parts.tsx";
import { seeOtherWith, sendHtml } from "../respond.ts";
import { Time } from "../time.tsx";
import { DeliveryTable } from "./delivery_table.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { readableName } from "../readable_name.ts";
import { ReceiptCard } from "./receipt.tsx";
import { Charged, isFree } from "./receipt_status.tsx";
import { Head, sendConsole } from "./shell.tsx";
import { Outputs, Stages, type StageView } from "./task_outputs.tsx";
import { TaskStatus } from "./tasks.tsx";
import { TypeMark } from "./type_mark.tsx";

const PATH = "/console/tasks";

/** GET /console/tasks/{id} */
export function taskPage({ database, tasks }: ConsoleDeps) {
  return async function taskPage(c: SiteContext): Promise<Response> {
    const { account } = personOf(c);
    const task = await readTask({ database, tasks }, c);
    const [request, { data: deliveries }, keys] = await Promise.all([
      findTaskRequest(database.sql, account, task.id),
      listDeliveries(database.sql, { account, task: task.id, limit: 20, order: "desc" }),
      listKeys(database.sql, account),
    ]);
    const isActive = !isOver(task.status);
    return sendConsole(
      c,
      { section: "tasks", title: `Task ${task.id}`, scripts: isActive ? ["task"] : [] },
      <>
        <nav class="crumbs" aria-label="Breadcrumb">
          <a href={PATH}>Tasks</a>
        </nav>
        <Head
          title={
            <span class="row-tight">
              <TypeMark type={task.type} />
              {task.model}
              <TaskStatus status={task.status} />
            </span>
          }
          note={<span class="mono break">{task.id}</span>}
        >
          {isActive && (
            <Form c={c} action={`${PATH}/${task.id}/cancel`} class="">
              <button type="submit" class="button button-danger-quiet">Cancel</button>
            </Form>
          )}
        </Head>
        {isActive && <Progress task={task} />}
        {task.error !== null && (
          <Notice kind="bad" title={task.error.message}>
            <span class="small">
              <code>{task.error.code}</code>
              <ChargeNote receipt={task.charge} currency={c.env.config.service} />
            </span>
          </Notice>
        )}
        <Results task={task} />
        <div class="grid billing-grid">
          <div class="stack">
            {request !== null && <RequestCard request={request} />}
            <DetailsCard task={task} />
          </div>
          <ReceiptCard
            receipt={task.charge}
            currency={c.env.config.service}
            keys={keys}
            title="Receipt"
          />
        </div>
        {deliveries.length > 0 && (
          <DeliveryTable title="Webhook deliveries" deliveries={deliveries} />
        )}
      </>,
    );
  };
}

/** What the receipt says of a task that failed. Nothing while it is open. */
function ChargeNote({ receipt, currency }: { receipt: Receipt; currency: MoneyFormat }) {
  if (receipt.status === "open") return null;
  if (isFree(receipt)) return <>. You were not charged.</>;
  return (
    <>
      . You were charged <Charged receipt={receipt} currency={currency} /> for results so far.
    </>
  );
}

/** A finished drama has both: its episode, and what its stages made. */
function Results({ task: { output, stages = [] } }: { task: RenderedTask }) {
  return (
    <>
      {output.length > 0 && (
        <section class="card stack">
          <h2 class="card-title">{stages.length > 0 ? "Final result" : "Results"}</h2>
          <Outputs outputs={output} />
        </section>
      )}
      {stages.length > 0 && (
        <Stages
          stages={stages as unknown as readonly StageView[]}
          isCollapsed={output.length > 0}
        />
      )}
    </>
  );
}

function RequestCard({ request: { texts, parameters, inputs } }: { request: TaskRequest }) {
  const values = Object.entries(parameters);
  if (Object.keys(texts).length + values.length + inputs.length === 0) return null;
  return (
    <section class="card stack">
      <h2 class="card-title">Request</h2>
      {Object.entries(texts).map(([name, text]) => (
        <div>
          <h3 class="label">{readableName(name)}</h3>
          <p class="long-text">{text}</p>
        </div>
      ))}
      {values.length + inputs.length > 0 && (
        <dl class="facts facts-tight">
          {values.map(([name, value]) => (
            <>
              <dt>{PARAMETERS[name] ?? readableName(name)}</dt>
              <dd>{String(value)}</dd>
            </>
          ))}
          {inputs.length > 0 && (
            <>
              <dt>Inputs</dt>
              <dd class="mono break">{inputs.join(", ")}</dd>
            </>
          )}
        </dl>
      )}
    </section>
  );
}

const PARAMETERS: Readonly<Record<string, string>> = {
  n: "Number of images",
  duration: "Duration (seconds)",
  stage: "Last stage",
  shots_max: "Max shots",
};

function DetailsCard({ task }: { task: RenderedTask }) {
  const { started_at, completed_at, expires_at } = task;
  return (
    <section class="card stack">
      <h2 class="card-title">Details</h2>
      <dl class="facts facts-tight">
        <dt>Created</dt>
        <dd>
          <Time at={task.created} />
        </dd>
        <dt>Started</dt>
        <dd>{started_at === null ? "—" : <Time at={started_at} />}</dd>
        {completed_at === null
          ? (
            <>
              <dt>Deadline</dt>
              <dd>{expires_at === null ? "—" : <Time at={expires_at} />}</dd>
            </>
          )
          : (
            <>
              <dt>Completed</dt>
              <dd>
                <Time at={completed_at} />
              </dd>
              <dt>Duration</dt>
              <dd>{formatDuration(Date.parse(completed_at) / 1000 - task.created)}</dd>
            </>
          )}
        {task.status === "succeeded" && expires_at !== null && (
          <>
            <dt>Results available until</dt>
            <dd>
              <Time at={expires_at} />
            </dd>
          </>
        )}
        {task.response_id !== undefined && (
          <>
            <dt>Response ID</dt>
            <dd class="mono break">{task.response_id}</dd>
          </>
        )}
        <dt>Request ID</dt>
        <dd class="mono break">{task.request_id}</dd>
      </dl>
    </section>
  );
}

/** GET /console/tasks/{id}/results: the results alone, for scripts of other pages. */
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
export function cancelTaskPage({ tasks, database }: ConsoleDeps) {
  return async function cancelTaskPage(c: SiteContext): Promise<Response> {
    const id = c.req.param("id") ?? "";
    const { account } = personOf(c);
    const { row, isPending } = await cancelTask(tasks, account, id);
    await writeAudit(database.sql, memberOf(c), { action: "task.cancel", account, subject: id });
    return seeOtherWith(
      c,
      `${PATH}/${id}`,
      isPending ? "info" : "good",
      isPending
        ? "Cancellation requested."
        : row.status === "cancelled"
        ? isFree(toReceipt(receiptOf(row), c.env.config.service.currency))
          ? "Task cancelled. You were not charged."
          : "Task cancelled. Results so far were charged: see the receipt."
        : `The task has already ${ENDED[row.status] ?? "ended"}.`,
    );
  };
}

const ENDED: Readonly<Record<string, string>> = {
  succeeded: "succeeded",
  failed: "failed",
  expired: "expired",
};

function Progress({ task }: { task: RenderedTask }) {
  return (
    <section class="card stack-s" data-task={task.id} data-status={task.status}>
      <p class="row-between">
        <span data-task-status role="status">
          {task.status === "queued" ? "Queued" : `Running, ${task.progress}%`}
        </span>
        <a class="only-unscripted" href={`${PATH}/${task.id}`}>Refresh</a>
      </p>
      <progress class="progress" max="100" value={task.progress} aria-label="Progress" />
    </section>
  );
}
