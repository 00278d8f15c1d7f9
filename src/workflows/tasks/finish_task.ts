import type { ApiError } from "../../lib/api_error.ts";
import { renderOutputs } from "./render_task.ts";
import type { Upstream } from "../../platform/config/config.ts";
import { costAttribution } from "../../domain/pricing/cost_attribution.ts";
import { type Charge, chargeUsage } from "../../domain/pricing/quote.ts";
import { priceFrom, type PriceSnapshot } from "../../domain/pricing/snapshot.ts";
import type { Usage, UsageKind } from "../../domain/pricing/usage.ts";
import type { JobMessage } from "../../platform/queue/queue.ts";
import { enqueueEvent } from "../../domain/webhooks/enqueue_event.ts";
import type { TaskDeps } from "./deps.ts";
import type { EndStatus, TaskOutput, TaskStage } from "./task.ts";
import { wakeParent } from "./subtasks.ts";

/** How a task ends. */
export interface Ending {
  status: EndStatus;
  outputs?: readonly TaskOutput[];
  /** What is to be paid for; nothing: everything goes back. */
  usage?: Usage | null;
  /** The same, for who has reckoned it. */
  charge?: Charge | null;
  /** Of a pipeline: the stage it ended in, and the results of each stage. */
  stage?: string;
  stages?: readonly TaskStage[];
  /** What clients read as `usage.total_units`. */
  units?: number;
  error?: { code: string; message: string };
  /** Who made it, for the operator's margins. */
  upstream?: Upstream;
}

export interface Finishing {
  id: string;
  /** Null: only while nobody may have been asked for it. */
  fence: string | null;
}

interface Ended {
  account_id: string;
  request_id: string;
  callback_url: string | null;
  parent_id: string | null;
  price: PriceSnapshot;
  kind: UsageKind | null;
}

/**
 * Ends a task, once: state, results, money, count, key and event in one transaction. False when it was
 * over already, or is not the caller's to end any more; then nothing has moved.
 */
export async function finishTask(
  deps: TaskDeps,
  { id, fence }: Finishing,
  ending: Ending,
): Promise<boolean> {
  const { status, outputs = [], usage = null, units = 0, error, upstream } = ending;
  const { stage = null, stages = null } = ending;
  let parent: string | null = null;
  const bells = await deps.database.sql.begin(
    async (sql): Promise<readonly JobMessage[] | null> => {
      const [ended] = await sql<Ended[]>`
      with ended as (
        update task t
           set status = ${status}, outputs = ${
        JSON.stringify(outputs)
      }::text::jsonb, units = ${units},
               progress = case when ${status} = 'succeeded' then 100 else t.progress end,
               error_code = ${error?.code ?? null}, error_message = ${error?.message ?? null},
               started_at = coalesce(t.started_at, t.submitted_at), completed_at = now(),
               stage = coalesce(${stage}, t.stage),
               stages = coalesce(${
        stages === null ? null : JSON.stringify(stages)
      }::text::jsonb, t.stages),
               usage = case when t.parent_id is not null then ${
        usage === null ? null : JSON.stringify(usage)
      }::text::jsonb end,
               updated_at = now(), wake_at = null, lease_until = null, dead_at = null, result = null,
               fence = t.fence + 1
         where t.id = ${id} and t.completed_at is null
           and ${fence === null ? sql`t.phase = 'submit'` : sql`t.fence = ${fence}`}
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
      if (ended === undefined) return null;
      // A part has no money and no event of its own.
      parent = ended.parent_id;
      if (parent !== null) return [];
      const bells = await enqueueEvent(sql, {
        account: ended.account_id,
        taskId: id,
        type: `task.${status}`,
        callbackUrl: ended.callback_url,
        data: {
          task_id: id,
          status,
          output: renderOutputs(outputs, { files: deps.files, now: Date.now() }),
        },
      });
      for (const bell of bells) await deps.queue.enqueueInTransaction(sql, bell);
      // Last: from here on others of the account wait for this transaction.
      const { price, kind } = ended;
      const due = ending.charge ?? (usage === null ? null : chargeUsage(
        { price: priceFrom(price), kind },
        usage,
        upstream === undefined ? undefined : costAttribution(upstream, usage),
      ));
      const resolution = due === null
        ? await deps.ledger.releaseIn(sql, ended.request_id)
        : await deps.ledger.settleIn(sql, ended.request_id, due);
      if (!resolution.isFirst) {
        deps.log.error("the hold of a task was resolved before its end", { task_id: id });
      }
      return bells;
    },
  );
  if (bells === null) return false;
  for (const bell of bells) deps.queue.notify(bell);
  deps.watch.changed(id);
  if (parent === null) deps.onEnd?.(status);
  else await wakeParent(deps, parent);
  return true;
}

/** Ends a task that came to nothing; everything goes back. */
export async function failTask(
  deps: TaskDeps,
  task: Finishing,
  { code, message }: ApiError,
): Promise<"done"> {
  await finishTask(deps, task, { status: "failed", error: { code, message } });
  return "done";
}
