import {
  countTasks,
  listForOperator,
  type OperatorTask,
  replayTask,
  TASK_PROBLEMS,
} from "../../../workflows/tasks/operate_tasks.ts";
import { STATUSES } from "../../../workflows/tasks/task.ts";
import { listDeliveries, type WebhookDelivery } from "../../../domain/webhooks/deliveries.ts";
import { redeliver } from "../../../domain/webhooks/redeliver.ts";
import { countWebhooks } from "../../../domain/webhooks/webhooks.ts";
import type { SiteContext } from "../../context.ts";
import { Badge, Empty, Form } from "../../parts.tsx";
import { seeOtherWith } from "../../respond.ts";
import type { ConsoleDeps } from "../deps.ts";
import { ago, duration, formatCount, moment } from "../format.ts";
import { ChoiceLinks, Head, Pager, sendConsole, TableCard } from "../shell.tsx";
import { TaskState } from "../tasks.tsx";
import { ACCOUNTS } from "./accounts.tsx";

const PATH = "/console/operator/work";
const PAGE = 20;
const VIEWS = [
  ["dead", "Waiting for you"],
  ["failing", "Failing"],
  ["late", "Late"],
  ["all", "All tasks"],
] as const;

/** GET /console/operator/work: what waits, what is stuck, and what was not delivered. */
export function workPage({ database }: ConsoleDeps) {
  return async function workPage(c: SiteContext): Promise<Response> {
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
    const figures: [name: string, value: string, note: string, isBad: boolean][] = [
      ["Queued", formatCount(tasks.queued), "tasks", false],
      ["Running", formatCount(tasks.running), "tasks", false],
      ["Waiting for you", formatCount(tasks.dead), "tasks", tasks.dead > 0],
      ["Longest overdue", duration(tasks.late_seconds), "", tasks.late_seconds > 60],
      ["Deliveries", formatCount(webhooks.pending), "on their way", false],
      ["Endpoints", formatCount(webhooks.disabled), "disabled by us", webhooks.disabled > 0],
    ];
    return sendConsole(
      c,
      { section: "work", title: "Queue" },
      <>
        <Head title="Queue" note="Tasks and deliveries of every account." />
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
              <Empty title={view === "all" ? "No task yet" : "None, and that is good"}>
                <p>
                  {view === "dead"
                    ? "A task that could not be brought to an end waits here for somebody to look at it."
                    : "Nothing to see."}
                </p>
              </Empty>
            </section>
          )
          : (
            <TableCard
              columns={["Task", "Account", "State", "Where", "What went wrong", ["", "right"]]}
              foot={
                <Pager
                  path={PATH}
                  query={{ view, after }}
                  lastId={data.at(-1)?.id}
                  hasMore={hasMore}
                />
              }
            >
              {data.map((task) => <TaskLine c={c} task={task} />)}
            </TableCard>
          )}
        {failed.data.length > 0 && (
          <TableCard
            title="Deliveries given up lately"
            columns={["Event", "Account", "To", "Answer", "Ended", ["", "right"]]}
          >
            {failed.data.map((delivery) => <FailedLine c={c} delivery={delivery} />)}
          </TableCard>
        )}
      </>,
    );
  };
}

/** POST /console/operator/work/tasks/{id}/replay */
export function replayPage({ tasks }: ConsoleDeps) {
  return async function replayPage(c: SiteContext): Promise<Response> {
    const { id } = await replayTask(tasks, c.req.param("id") ?? "");
    return seeOtherWith(c, PATH, "good", `${id} is looked at now, with its whole time before it.`);
  };
}

/** POST /console/operator/work/deliveries/{id}/redeliver */
export function redeliverForOperator({ webhooks }: ConsoleDeps) {
  return async function redeliverForOperator(c: SiteContext): Promise<Response> {
    await redeliver(webhooks, c.req.param("id") ?? "");
    return seeOtherWith(c, PATH, "good", "It is sent again.");
  };
}

function TaskLine({ c, task }: { c: SiteContext; task: OperatorTask }) {
  const status = STATUSES.find((each) => each === task.status)!;
  const isLiving = task.completed_at === null;
  return (
    <tr>
      <td data-label="Task">
        <span>
          <span class="mono break">{task.id}</span>
          <span class="small faint account-id">{task.model}, {ago(task.created_at)}</span>
          {task.parent !== null && (
            <span class="small faint account-id break">{task.subtask} of {task.parent}</span>
          )}
        </span>
      </td>
      <td data-label="Account">
        <a class="mono small break" href={`${ACCOUNTS}/${task.account}`}>{task.account}</a>
      </td>
      <td data-label="State">
        <span class="row-tight">
          <TaskState status={status} progress={task.progress} />
          {task.dead_at !== null && <Badge kind="bad">stuck</Badge>}
        </span>
      </td>
      <td data-label="Where">
        {task.provider === null
          ? <span class="faint">nowhere</span>
          : `${task.provider}/${task.upstream_model}`}
      </td>
      <td data-label="What went wrong" class="small break">
        {task.error?.message ?? task.last_failure ?? ""}
        {task.failures > 0 && <span class="faint">, {formatCount(task.failures)} times</span>}
      </td>
      <td class="right">
        {isLiving && (
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

function FailedLine({ c, delivery }: { c: SiteContext; delivery: WebhookDelivery }) {
  return (
    <tr>
      <td data-label="Event">{delivery.event.type}</td>
      <td data-label="Account">
        <a class="mono small break" href={`${ACCOUNTS}/${delivery.account}`}>{delivery.account}</a>
      </td>
      <td data-label="To" class="small break">{delivery.url}</td>
      <td data-label="Answer">{delivery.last_status ?? delivery.last_error ?? "none"}</td>
      <td data-label="Ended" class="nowrap">
        {delivery.ended_at !== null && (
          <time datetime={delivery.ended_at} title={moment(delivery.ended_at)}>
            {ago(delivery.ended_at)}
          </time>
        )}
      </td>
      <td class="right">
        <Form c={c} action={`${PATH}/deliveries/${delivery.id}/redeliver`} class="">
          <button type="submit" class="button button-small">
            Send again <span class="sr-only">{delivery.id}</span>
          </button>
        </Form>
      </td>
    </tr>
  );
}
