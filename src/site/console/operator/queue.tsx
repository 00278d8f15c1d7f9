import { listDeliveries, type WebhookDelivery } from "../../../domain/webhooks/deliveries.ts";
import { audited, writeAudit } from "../../../domain/audit/audit.ts";
import { countWebhooks } from "../../../domain/webhooks/webhooks.ts";
import { repeatDelivery } from "../../../workflows/accounts/manage_webhooks.ts";
import {
  countTasks,
  listForOperator,
  type OperatorTask,
  replayTask,
  TASK_PROBLEMS,
} from "../../../workflows/tasks/operate_tasks.ts";
import { STATUSES } from "../../../workflows/tasks/task.ts";
import { operatorOf } from "../../actor.ts";
import type { SiteContext } from "../../context.ts";
import { formatCount, formatDuration, plural } from "../../format.ts";
import { Badge, Empty, Form } from "../../parts.tsx";
import { seeOtherWith } from "../../respond.ts";
import { Time } from "../../time.tsx";
import type { ConsoleDeps } from "../deps.ts";
import { ChoiceLinks, Head, Pager, sendConsole, TableCard } from "../shell.tsx";
import { TaskStatus } from "../tasks.tsx";
import { ACCOUNTS } from "./accounts.tsx";

const PATH = "/console/operator/queue";
const PAGE = 20;
const VIEWS = [
  ["dead", "Needs attention"],
  ["failing", "Failing"],
  ["late", "Late"],
  ["all", "All tasks"],
] as const;
/** A queue is slow when its oldest due task waits longer than this. */
const LATE_SECONDS = 60;

/** GET /console/operator/queue: tasks and failed deliveries of all accounts. */
export function queuePage({ database }: ConsoleDeps) {
  return async function queuePage(c: SiteContext): Promise<Response> {
    const { sql } = database;
    const { after, view: asked } = c.req.query();
    const view = VIEWS.find(([value]) => value === asked)?.[0] ?? "dead";
    const problem = TASK_PROBLEMS.find((each) => each === view);
    const [tasks, webhooks, { data, hasMore }, failed] = await Promise.all([
      countTasks(sql),
      countWebhooks(sql),
      listForOperator(sql, { limit: PAGE, after, order: "desc", problem }),
      listDeliveries(sql, { status: "failed", limit: 10, order: "desc" }),
    ]);
    return sendConsole(
      c,
      { section: "queue", title: "Queue" },
      <>
        <Head title="Queue" note="Tasks and deliveries of all accounts" />
        <QueueFigures tasks={tasks} webhooks={webhooks} />
        <div>
          <ChoiceLinks
            label="Tasks"
            name="view"
            options={VIEWS}
            value={view}
            path={PATH}
            query={{}}
          />
        </div>
        {data.length === 0
          ? (
            <section class="card">
              <Empty title={view === "all" ? "No tasks yet" : EMPTY[view]}>
                {view === "dead" && <p>Tasks that could not be completed are listed here.</p>}
              </Empty>
            </section>
          )
          : (
            <TableCard
              columns={["Task", "Account", "Status", "Upstream", "Error", ["", "right"]]}
              foot={
                <Pager
                  path={PATH}
                  query={{ view, after }}
                  lastId={data.at(-1)?.id}
                  hasMore={hasMore}
                />
              }
            >
              {data.map((task) => <TaskRow c={c} task={task} />)}
            </TableCard>
          )}
        {failed.data.length > 0 && (
          <TableCard
            title="Recently failed deliveries"
            columns={["Event", "Account", "To", "Response", "Failed", ["", "right"]]}
          >
            {failed.data.map((delivery) => <FailedDelivery c={c} delivery={delivery} />)}
          </TableCard>
        )}
      </>,
    );
  };
}

const EMPTY = {
  dead: "No stuck tasks",
  failing: "No failing tasks",
  late: "No late tasks",
} as const;

function QueueFigures(
  { tasks, webhooks }: {
    tasks: Awaited<ReturnType<typeof countTasks>>;
    webhooks: Awaited<ReturnType<typeof countWebhooks>>;
  },
) {
  const { late_seconds: late } = tasks;
  const figures: [name: string, value: string, note: string, isBad: boolean][] = [
    ["Queued", formatCount(tasks.queued), "tasks", false],
    ["Running", formatCount(tasks.running), "tasks", false],
    ["Needs attention", formatCount(tasks.dead), "tasks", tasks.dead > 0],
    ["Longest delay", formatDuration(late), "", late > LATE_SECONDS],
    ["Pending", formatCount(webhooks.pending), "deliveries", false],
    ["Disabled", formatCount(webhooks.disabled), "failing endpoints", webhooks.disabled > 0],
  ];
  return (
    <section class="card" aria-label="Figures">
      <dl class="balance-parts">
        {figures.map(([name, value, note, isBad]) => (
          <div class="figure">
            <dt>{name}</dt>
            <dd class={isBad ? "bad" : ""}>{value}</dd>
            <dd class="figure-note">{note}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** POST /console/operator/queue/tasks/{id}/replay */
export function replayTaskPage({ tasks, database }: ConsoleDeps) {
  return async function replayTaskPage(c: SiteContext): Promise<Response> {
    const { id, account } = await replayTask(tasks, c.req.param("id") ?? "");
    await writeAudit(database.sql, operatorOf(c), { action: "task.replay", account, subject: id });
    return seeOtherWith(c, PATH, "good", `Task ${id} was requeued with a new deadline.`);
  };
}

/** POST /console/operator/queue/deliveries/{id}/redeliver */
export function redeliverForOperator(deps: ConsoleDeps) {
  return async function redeliverForOperator(c: SiteContext): Promise<Response> {
    const id = c.req.param("id") ?? "";
    await audited(
      deps,
      operatorOf(c),
      (change) => repeatDelivery(change, deps.webhooks, { id }),
    );
    return seeOtherWith(c, PATH, "good", "Redelivery queued.");
  };
}

function TaskRow({ c, task }: { c: SiteContext; task: OperatorTask }) {
  const status = STATUSES.find((each) => each === task.status)!;
  return (
    <tr>
      <td data-label="Task">
        <span>
          <span class="mono break">{task.id}</span>
          <span class="small faint block">
            {task.model}, <Time at={task.created_at} as="relative" />
          </span>
          {task.parent !== null && (
            <span class="small faint block break">{task.subtask} of {task.parent}</span>
          )}
        </span>
      </td>
      <td data-label="Account">
        <a class="mono small break" href={`${ACCOUNTS}/${task.account}`}>{task.account}</a>
      </td>
      <td data-label="Status">
        <span class="row-tight">
          <TaskStatus status={status} progress={task.progress} />
          {task.dead_at !== null && <Badge kind="bad">Stuck</Badge>}
        </span>
      </td>
      <td data-label="Upstream">
        {task.provider === null ? "—" : `${task.provider}/${task.upstream_model}`}
      </td>
      <td data-label="Error" class="small break">
        {task.error?.message ?? task.last_failure ?? "—"}
        {task.failures > 0 && <span class="faint">, {plural(task.failures, "time")}</span>}
      </td>
      <td class="right">
        {task.completed_at === null && (
          <Form c={c} action={`${PATH}/tasks/${task.id}/replay`} class="">
            <button type="submit" class="button button-small">
              Replay <span class="sr-only">{task.id}</span>
            </button>
          </Form>
        )}
      </td>
    </tr>
  );
}

function FailedDelivery({ c, delivery }: { c: SiteContext; delivery: WebhookDelivery }) {
  return (
    <tr>
      <td data-label="Event">{delivery.event.type}</td>
      <td data-label="Account">
        <a class="mono small break" href={`${ACCOUNTS}/${delivery.account}`}>{delivery.account}</a>
      </td>
      <td data-label="To" class="small break">{delivery.url}</td>
      <td data-label="Response">{delivery.last_status ?? delivery.last_error ?? "None"}</td>
      <td data-label="Failed">
        {delivery.ended_at !== null && <Time at={delivery.ended_at} as="relative" />}
      </td>
      <td class="right">
        <Form c={c} action={`${PATH}/deliveries/${delivery.id}/redeliver`} class="">
          <button type="submit" class="button button-small">
            Redeliver <span class="sr-only">{delivery.id}</span>
          </button>
        </Form>
      </td>
    </tr>
  );
}
