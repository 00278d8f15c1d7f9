import { MODEL_TYPES } from "../../model_types/model_types.ts";
import { listTasks } from "../../workflows/tasks/find_task.ts";
import { isOver, type Status, STATUSES, type TaskRow } from "../../workflows/tasks/task.ts";
import { receiptOf } from "../../workflows/tasks/task.ts";
import { toReceipt } from "../../domain/ledger/receipt.ts";
import { personOf, type SiteContext } from "../context.ts";
import { formatList, type MoneyFormat } from "../format.ts";
import { Badge, Empty, FilterSelect } from "../parts.tsx";
import { Time } from "../time.tsx";
import type { ConsoleDeps } from "./deps.ts";
import { readableName } from "../readable_name.ts";
import { Charged } from "./receipt_status.tsx";
import { FORMS } from "./playground/forms.ts";
import { Head, Pager, sendConsole, TableCard } from "./shell.tsx";
import { TypeMark } from "./type_mark.tsx";

const PATH = "/console/tasks";
const PAGE = 20;
/** Types whose requests give tasks; others answer at once, but for responses in the background. */
const TASK_TYPES = MODEL_TYPES.filter((type) => FORMS[type].result === "task");
const FILTERED_TYPES = MODEL_TYPES.filter((type) => TASK_TYPES.includes(type) || type === "chat");

/** GET /console/tasks */
export function tasksPage({ database }: ConsoleDeps) {
  return async function tasksPage(c: SiteContext): Promise<Response> {
    const { after, ...asked } = c.req.query();
    const type = FILTERED_TYPES.find((each) => each === asked.type);
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
          note={`Asynchronous jobs: ${
            formatList([
              ...TASK_TYPES.map((type) => FORMS[type].title.toLowerCase()),
              "responses in the background",
            ])
          }.`}
        />
        <TaskFilters type={type} status={status} />
        {rows.length === 0 ? <NoTasks isFiltered={isFiltered} /> : (
          <TaskTable
            tasks={rows}
            currency={c.env.config.service}
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

function TaskFilters(
  { type, status }: { type: string | undefined; status: Status | undefined },
) {
  return (
    <form class="filters" method="get" action={PATH}>
      <FilterSelect
        name="type"
        label="Type"
        all="All types"
        values={FILTERED_TYPES}
        value={type}
      />
      <FilterSelect
        name="status"
        label="Status"
        all="Any status"
        values={STATUSES}
        value={status}
      />
      <button type="submit" class="button">Apply</button>
    </form>
  );
}

function NoTasks({ isFiltered }: { isFiltered: boolean }) {
  return (
    <section class="card">
      {isFiltered
        ? (
          <Empty title="No matching tasks">
            <p>
              <a href={PATH}>View all</a>
            </p>
          </Empty>
        )
        : (
          <Empty title="No tasks yet">
            <p>
              Create your first task in the playground of{" "}
              <a href="/console/models?type=image">an image model</a>.
            </p>
          </Empty>
        )}
    </section>
  );
}

export function TaskTable(
  { tasks, currency, foot, title, head }: {
    tasks: readonly TaskRow[];
    currency: MoneyFormat;
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
      columns={["Task", "Model", "Status", "Created", ["Charged", "right"]]}
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
          <td data-label="Status">
            <TaskStatus status={task.status} progress={task.progress} />
          </td>
          <td data-label="Created">
            <Time at={task.created_at} as="relative" />
          </td>
          <td data-label="Charged" class="right">
            {isOver(task.status)
              ? (
                <Charged
                  receipt={toReceipt(receiptOf(task), currency.currency)}
                  currency={currency}
                />
              )
              : "—"}
          </td>
        </tr>
      ))}
    </TableCard>
  );
}

const STATUS_BADGES: Readonly<Record<Status, "good" | "warn" | "bad" | "info" | undefined>> = {
  queued: "info",
  running: "info",
  succeeded: "good",
  failed: "bad",
  cancelled: undefined,
  expired: "warn",
};

export function TaskStatus({ status, progress }: { status: Status; progress?: number }) {
  return (
    <Badge kind={STATUS_BADGES[status]} dot={!isOver(status)}>
      {readableName(status)}
      {status === "running" && progress !== undefined && ` ${progress}%`}
    </Badge>
  );
}
