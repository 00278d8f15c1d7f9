import { MODEL_TYPES } from "../../lib/model_types.ts";
import { listTasks } from "../../workflows/tasks/find_task.ts";
import { isOver, type Status, STATUSES, type TaskRow } from "../../workflows/tasks/task.ts";
import { receiptOf } from "../../workflows/tasks/task.ts";
import { toReceipt } from "../../domain/ledger/receipt.ts";
import { personOf, type SiteContext } from "../context.ts";
import { Badge, Empty, Select } from "../parts.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { ago, moment } from "./format.ts";
import { Charged } from "./receipt_text.tsx";
import { Head, Pager, sendConsole, TableCard } from "./shell.tsx";
import { TypeMark } from "./type_mark.tsx";

const PATH = "/console/tasks";
const PAGE = 20;

/** GET /console/tasks */
export function tasksPage({ database }: ConsoleDeps) {
  return async function tasksPage(c: SiteContext): Promise<Response> {
    const { after, ...asked } = c.req.query();
    const type = MODEL_TYPES.find((each) => each === asked.type);
    const status = STATUSES.find((each) => each === asked.status);
    const { rows, hasMore } = await listTasks(database.sql, {
      account: personOf(c).account,
      limit: PAGE,
      after,
      order: "desc",
      type,
      status,
    });
    const isFiltered = type !== undefined || status !== undefined || after !== undefined;
    return sendConsole(
      c,
      { section: "tasks", title: "Tasks" },
      <>
        <Head
          title="Tasks"
          note="Pictures, clips, avatars, dramas and speech that you asked for."
        />
        <form class="filters" method="get" action={PATH}>
          <Select
            name="type"
            label="Type"
            value={type}
            options={[
              ["", "All types"],
              ...MODEL_TYPES.filter((each) => each !== "chat").map((each) => [each, each] as const),
            ]}
          />
          <Select
            name="status"
            label="State"
            value={status}
            options={[["", "Any state"], ...STATUSES.map((each) => [each, each] as const)]}
          />
          <button type="submit" class="button">Show</button>
        </form>
        {rows.length === 0
          ? (
            <section class="card">
              {isFiltered
                ? (
                  <Empty title="No task like that">
                    <p>
                      <a href={PATH}>See all of them</a>
                    </p>
                  </Empty>
                )
                : (
                  <Empty title="No task yet">
                    <p>
                      A task is a picture, a clip or a sound in the making. Make the first one in
                      the playground of <a href="/console/models?type=image">an image model</a>.
                    </p>
                  </Empty>
                )}
            </section>
          )
          : (
            <TaskTable
              tasks={rows}
              currency={c.env.config.service.currency}
              foot={
                <Pager
                  path={PATH}
                  query={{ type, status, after }}
                  lastId={rows.at(-1)?.id}
                  hasMore={hasMore}
                />
              }
            />
          )}
      </>,
    );
  };
}

export function TaskTable(
  { tasks, currency, foot, title, head }: {
    tasks: readonly TaskRow[];
    currency: string;
    foot?: Parameters<typeof TableCard>[0]["foot"];
    title?: string;
    head?: Parameters<typeof TableCard>[0]["head"];
  },
) {
  return (
    <TableCard
      title={title}
      head={head}
      foot={foot}
      columns={["Task", "Model", "State", "Created", ["Charged", "right"]]}
    >
      {tasks.map((task) => (
        <tr>
          <td data-label="Task">
            <span class="row-tight">
              <TypeMark type={task.type} />
              <a class="mono" href={`${PATH}/${task.id}`}>{task.id}</a>
            </span>
          </td>
          <td data-label="Model">{task.model}</td>
          <td data-label="State">
            <TaskState status={task.status} progress={task.progress} />
          </td>
          <td data-label="Created" class="nowrap">
            <time datetime={task.created_at.toISOString()} title={moment(task.created_at)}>
              {ago(task.created_at)}
            </time>
          </td>
          <td data-label="Charged" class="right">
            {isOver(task.status)
              ? <Charged receipt={toReceipt(receiptOf(task), currency)} currency={currency} />
              : <span class="faint">not yet</span>}
          </td>
        </tr>
      ))}
    </TableCard>
  );
}

const KINDS: Readonly<Record<Status, "good" | "warn" | "bad" | "info" | undefined>> = {
  queued: "info",
  running: "info",
  succeeded: "good",
  failed: "bad",
  cancelled: undefined,
  expired: "warn",
};

export function TaskState({ status, progress }: { status: Status; progress?: number }) {
  return (
    <Badge kind={KINDS[status]} dot={!isOver(status)}>
      {status}
      {status === "running" && progress !== undefined && ` ${progress} %`}
    </Badge>
  );
}
