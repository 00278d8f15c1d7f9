import type { ApiError } from "../../lib/api_error.ts";
import { formatDecimal, roundHalfUp, SCALE } from "../../lib/money.ts";
import { renderOutputs } from "./render_task.ts";
import type { Upstream } from "../../platform/config/config.ts";
import type { Queries } from "../../platform/database/database.ts";
import { costAttribution } from "../../domain/pricing/cost_attribution.ts";
import { type Charge, chargeUsage } from "../../domain/pricing/quote.ts";
import { priceFrom, type PriceSnapshot } from "../../domain/pricing/snapshot.ts";
import type { Usage, UsageKind } from "../../model_types/usage.ts";
import type { JobMessage } from "../../platform/queue/queue.ts";
import { enqueueEvent } from "../../domain/webhooks/enqueue_event.ts";
import type { TaskDeps } from "./deps.ts";
import type { EndStatus, TaskOutput, TaskStage } from "./task.ts";
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
}

/** A part of a charge, for the operator's margins. */
export interface ReceiptPart {
  readonly stage: string;
  readonly model: string;
  /** provider/model that made it. */
  readonly upstream: string | null;
  readonly amount: string;
  /** What the upstream charges; null where it is not known. */
  readonly cost: string | null;
}

/**
 * The task to end. A step of the task proves by its fence that it still has the lease. Others end it `unsent`, only
 * while no upstream can have received it, or `anytime`: the step that works on it then loses its lease.
 */
export type Finishing =
  & { id: string }
  & ({ fence: string } | { ends: "unsent" | "anytime" });

interface EndedRow {
  account_id: string;
  request_id: string;
  callback_url: string | null;
  parent_id: string | null;
  price: PriceSnapshot;
  kind: UsageKind | null;
}

interface EndedTask extends EndedRow {
  id: string;
}

/**
 * Ends a task once: status, results, settlement, task count, idempotency key and event in one transaction. Returns
 * false and changes nothing when it had ended before, or when the caller has lost its lease.
 */
export async function finishTask(
  deps: TaskDeps,
  task: Finishing,
  ending: Ending,
): Promise<boolean> {
  let parent: string | null = null;
  const messages = await deps.database.sql.begin(
    async (sql): Promise<readonly JobMessage[] | null> => {
      const ended = await endRow(sql, task, ending);
      if (ended === null) return null;
      // A subtask has no hold and no event.
      parent = ended.parent_id;
      if (parent !== null) return [];
      const messages = await enqueueEndEvent(deps, sql, ended, ending);
      if (ending.parts !== undefined) await writeParts(sql, ended.request_id, ending.parts);
      // Last: from here on other transactions of the account wait for this one.
      await resolveHold(deps, sql, ended, ending);
      return messages;
    },
  );
  if (messages === null) return false;
  for (const message of messages) deps.queue.notify(message);
  deps.watch.changed(task.id);
  if (parent === null) deps.onEnd?.(ending.status);
  else await wakeParent(deps, parent);
  return true;
}

/**
 * Ends the row of a task, and with it the count of the account's active tasks and the life of its idempotency key.
 * Null where the task may not be ended by this caller.
 */
async function endRow(
  sql: Queries,
  task: Finishing,
  ending: Ending,
): Promise<EndedTask | null> {
  const { id } = task;
  const { status, outputs = [], usage = null, units = 0, error } = ending;
  const { stage = null, stages = null, upstream } = ending;
  const json = {
    outputs: JSON.stringify(outputs),
    stages: stages === null ? null : JSON.stringify(stages),
    usage: usage === null ? null : JSON.stringify(usage),
  };
  const [row] = await sql<EndedRow[]>`
    with ended as (
      update task t
         set status = ${status}, outputs = ${json.outputs}::text::jsonb, units = ${units},
             progress = case when ${status} = 'succeeded' then 100 else t.progress end,
             error_code = ${error?.code ?? null}, error_message = ${error?.message ?? null},
             started_at = coalesce(t.started_at, t.submitted_at), completed_at = now(),
             stage = coalesce(${stage}, t.stage),
             stages = coalesce(${json.stages}::text::jsonb, t.stages),
             usage = case when t.parent_id is not null then ${json.usage}::text::jsonb end,
             cost = case when t.parent_id is not null then ${subtaskCost(ending)}::numeric end,
             provider = coalesce(${upstream?.provider ?? null}, t.provider),
             upstream_model = coalesce(${upstream?.model ?? null}, t.upstream_model),
             updated_at = now(), wake_at = null, lease_until = null, dead_at = null, result = null,
             fence = t.fence + 1
       where t.id = ${id} and t.completed_at is null
         and ${mayEnd(sql, task)}
      returning t.account_id, t.request_id, t.callback_url, t.idempotency_key, t.parent_id),
    kept as (
      update idempotency i set expires_at = now() + interval '24 hours'
        from ended e where i.account_id = e.account_id and i.key = e.idempotency_key
                       and i.task_id = ${id}
      returning i.key),
    counted as (
      update task_load l set active = l.active - 1
        from ended e left join kept on true
       where l.account_id = e.account_id and e.parent_id is null)
    select e.account_id, e.request_id, e.callback_url, e.parent_id, h.price, h.kind
      from ended e left join hold h on h.id = e.request_id`;
  return row === undefined ? null : { ...row, id };
}

/** What a subtask cost; its drama adds up what all of them did. */
function subtaskCost({ usage = null, upstream }: Ending): string | null {
  if (usage === null || upstream === undefined) return null;
  const { cost } = costAttribution(upstream, usage);
  return cost === null ? null : formatDecimal(roundHalfUp(cost, SCALE));
}

async function writeParts(
  sql: Queries,
  receipt: string,
  parts: readonly ReceiptPart[],
): Promise<void> {
  const rows = parts.map((part, at) => ({ ...part, position: at + 1 }));
  await sql`
    insert into receipt_part (receipt_id, position, stage, model, upstream, amount, cost)
    select ${receipt}, position, stage, model, upstream, amount, cost
      from json_to_recordset(${JSON.stringify(rows)}::text::json)
             as part (position int, stage text, model text, upstream text, amount numeric, cost numeric)`;
}

function mayEnd(sql: Queries, task: Finishing) {
  if ("fence" in task) return sql`t.fence = ${task.fence}`;
  return task.ends === "unsent" ? sql`t.phase = 'submit'` : sql`true`;
}

/** Writes the event of a task's end, and the jobs that deliver it; returns their messages. */
async function enqueueEndEvent(
  { files, queue }: TaskDeps,
  sql: Queries,
  { id, account_id, callback_url }: EndedTask,
  { status, outputs = [] }: Ending,
): Promise<readonly JobMessage[]> {
  const messages = await enqueueEvent(sql, {
    account: account_id,
    taskId: id,
    type: `task.${status}`,
    callbackUrl: callback_url,
    data: {
      task_id: id,
      status,
      output: renderOutputs(outputs, { files, now: Date.now() }),
    },
  });
  for (const message of messages) await queue.enqueueInTransaction(sql, message);
  return messages;
}

/** Settles the hold of a task with its charge, or releases it where there is none. */
async function resolveHold(
  { ledger, log }: TaskDeps,
  sql: Queries,
  { id, request_id, price, kind }: EndedTask,
  { usage = null, charge, upstream }: Ending,
): Promise<void> {
  const due = charge ?? (usage === null ? null : chargeUsage(
    { price: priceFrom(price), kind },
    usage,
    upstream === undefined ? undefined : costAttribution(upstream, usage),
  ));
  const resolution = due === null
    ? await ledger.releaseIn(sql, request_id)
    : await ledger.settleIn(sql, request_id, due);
  if (!resolution.isFirst) {
    log.error("hold of task resolved before the task ended", { task_id: id });
  }
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
