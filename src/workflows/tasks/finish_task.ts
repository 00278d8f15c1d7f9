import type { ApiError } from "../../lib/api_error.ts";
import { formatDecimal, roundHalfUp, SCALE } from "../../lib/money.ts";
import { renderOutputs } from "./render_task.ts";
import type { Upstream } from "../../platform/config/config.ts";
import type { Queries } from "../../platform/database/database.ts";
import { traced } from "../../platform/tracing/traced.ts";
import { chargeFields } from "../../domain/ledger/item.ts";
import { costAttribution } from "../../domain/pricing/cost_attribution.ts";
import { type Charge, chargeUsage } from "../../domain/pricing/quote.ts";
import { priceFrom } from "../../domain/pricing/snapshot.ts";
import type { Usage } from "../../model_types/usage.ts";
import { DELIVERY, eventItem } from "../../domain/webhooks/enqueue_event.ts";
import type { NewEvent } from "../../domain/webhooks/event.ts";
import type { TaskDeps } from "./deps.ts";
import type { ClaimedRow, EndStatus, TaskOutput, TaskStage } from "./task.ts";
import type { ReceiptPart, TaskEnding } from "./task_writes.ts";
import { endedResponseStatus, type FinishedResponse, responseIdOf } from "./response_of_task.ts";
import { wakeParent } from "./subtasks.ts";

/** How a task ends. */
export interface Ending {
  status: EndStatus;
  outputs?: readonly TaskOutput[];
  /** Usage to charge; null releases the whole hold. */
  usage?: Usage | null;
  /** The charge, where the caller has computed it. */
  charge?: Charge | null;
  /** What the charge is for, where several models took part. */
  parts?: readonly ReceiptPart[];
  /** Of a pipeline: the stage it ended in, and the results of each stage. */
  stage?: string;
  stages?: readonly TaskStage[];
  /** What clients read as `usage.total_units`. */
  units?: number;
  error?: { code: string; message: string };
  /** The upstream that made it, for the operator's margins. */
  upstream?: Upstream;
  /** The background response that it has made. */
  response?: FinishedResponse;
}

/** What a task keeps from its request. */
type Owner = Pick<ClaimedRow, "account_id" | "callback_url" | "type" | "request_id">;

/**
 * The task to end. A step of the task proves by its fence that it still has the lease. Others end it `unsent`, only
 * while no upstream can have received it, or `anytime`: the step that works on it then loses its lease. They have no
 * usage to charge.
 */
export type Finishing =
  | Owner & Pick<ClaimedRow, "id" | "fence" | "price" | "kind">
  | { id: string; ends: "unsent" | "anytime" };

/**
 * Ends a task once: status, results, settlement, task count, idempotency key and event in one transaction, which tasks
 * that end at the same moment share. Returns false and changes nothing when it had ended before, or when the caller
 * has lost its lease.
 */
export async function finishTask(
  deps: TaskDeps,
  task: Finishing,
  ending: Ending,
): Promise<boolean> {
  const { id } = task;
  const owner = "fence" in task ? task : await findOwner(deps.database.sql, id);
  if (owner === null) return false;
  const written = {
    id,
    account_id: owner.account_id,
    ...rightToEnd(task),
    ...fieldsOf(ending),
    charge: chargeOf(task, ending),
    event: eventItem({
      ...(owner.type === "chat"
        ? responseEvent(id, owner.request_id, ending)
        : taskEvent(deps, id, ending)),
      callbackUrl: owner.callback_url,
    }),
    response: ending.response?.body ?? null,
  };
  const ended = await traced(
    deps.span ?? null,
    "settle",
    () => deps.writes.end(written),
    { "tollgate.task.status": ending.status },
  );
  if (ended === null) return false;
  for (const id of ended.deliveries) deps.queue.notify({ kind: DELIVERY, id });
  deps.watch.changed(id);
  if (ended.parent_id !== null) {
    await wakeParent(deps, ended.parent_id);
    return true;
  }
  if (!deps.ledger.resolved(ended).isFirst) {
    deps.log.error("hold of task resolved before the task ended", { task_id: id });
  }
  deps.onEnd?.(ending.status);
  return true;
}

/** For a caller that has not claimed the task. */
async function findOwner(sql: Queries, id: string): Promise<Owner | null> {
  const [row] = await sql<Owner[]>`
    select account_id, callback_url, type, request_id from task where id = ${id}`;
  return row ?? null;
}

function rightToEnd(task: Finishing): Pick<TaskEnding, "fence" | "is_unsent"> {
  return "fence" in task
    ? { fence: task.fence, is_unsent: false }
    : { fence: null, is_unsent: task.ends === "unsent" };
}

function fieldsOf(ending: Ending) {
  const { status, outputs = [], usage = null, units = 0, error, stage, stages, upstream } = ending;
  return {
    status,
    outputs,
    units,
    error_code: error?.code ?? null,
    error_message: error?.message ?? null,
    stage: stage ?? null,
    stages: stages ?? null,
    usage,
    cost: subtaskCost(ending),
    provider: upstream?.provider ?? null,
    upstream_model: upstream?.model ?? null,
    parts: ending.parts ?? null,
  };
}

/** What a subtask cost; its drama adds up what all of them did. */
function subtaskCost({ usage = null, upstream }: Ending): string | null {
  if (usage === null || upstream === undefined) return null;
  const { cost } = costAttribution(upstream, usage);
  return cost === null ? null : formatDecimal(roundHalfUp(cost, SCALE));
}

/** What its hold is settled with; null where nothing is charged. A subtask has no price: its parent pays. */
function chargeOf(
  task: Finishing,
  { usage = null, charge, upstream }: Ending,
): TaskEnding["charge"] {
  if (charge !== undefined && charge !== null) return chargeFields(charge);
  if (usage === null || !("price" in task) || task.price === null) return null;
  return chargeFields(chargeUsage(
    { price: priceFrom(task.price), kind: task.kind },
    usage,
    upstream === undefined ? undefined : costAttribution(upstream, usage),
  ));
}

function taskEvent(
  { files }: TaskDeps,
  id: string,
  { status, outputs = [] }: Ending,
): Pick<NewEvent, "type" | "data"> {
  const output = renderOutputs(outputs, { files, now: Date.now() });
  return { type: `task.${status}`, data: { task_id: id, status, output } };
}

/** Clients of the Responses API know it by the id of the response. */
function responseEvent(
  id: string,
  requestId: string,
  ending: Ending,
): Pick<NewEvent, "type" | "data"> {
  const status = endedResponseStatus(ending);
  return {
    type: `response.${status}`,
    data: { id: responseIdOf(requestId), task_id: id, status, output: [] },
  };
}

/** Ends a task as failed; its whole hold is released. */
export async function failTask(
  deps: TaskDeps,
  task: Finishing,
  { code, message }: ApiError,
): Promise<"done"> {
  await finishTask(deps, task, { status: "failed", error: { code, message } });
  return "done";
}
