import type postgres from "postgres";
import { newId } from "../../lib/ids.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { Queries } from "../../platform/database/database.ts";
import { findDelivery, unknownDelivery, type WebhookDelivery } from "./deliveries.ts";
import { findEndpoint } from "./endpoints.ts";
import { DELIVERY } from "./enqueue_event.ts";
import type { Webhooks } from "./webhooks.ts";

/** The queue is notified of this many; their destinations fetch the others. */
const NOTIFIED_MAX = 200;

/**
 * Sends an event again with the same id, with all its retries. A delivery that waits for a retry is sent now; one that
 * is being sent is not changed. The operator leaves out `account`.
 */
export async function redeliver(
  { sql, notify }: Webhooks,
  id: string,
  account?: string,
): Promise<WebhookDelivery> {
  const [row] = await sql<[{ woken: boolean; off: boolean }?]>`
    with asked as (
      select d.id, p.id is not null and (p.deleted_at is not null or p.disabled_at is not null) as off
        from webhook_delivery d left join webhook_endpoint p on p.id = d.endpoint_id
       where d.id = ${id} ${account === undefined ? sql`` : sql`and d.account_id = ${account}`}),
    woken as (${wake(sql, sql`select id from asked where not off`)})
    select off, exists (select from woken) as woken from asked`;
  if (row === undefined) throw unknownDelivery();
  if (row.off) {
    throw new ApiError(
      "invalid_value",
      "Its webhook endpoint is disabled or deleted. Enable it first.",
      { param: "id" },
    );
  }
  if (row.woken) notify({ kind: DELIVERY, id });
  const { payload: _payload, attempts: _attempts, ...delivery } = await findDelivery(sql, id);
  return delivery;
}

/** Sends again all deliveries that failed since a time; returns their number. */
export async function redeliverFailed(
  { sql, notify }: Webhooks,
  { account, endpoint, since }: { account?: string; endpoint?: string; since: Date },
): Promise<number> {
  const failed = sql`
    select d.id from webhook_delivery d left join webhook_endpoint p on p.id = d.endpoint_id
     where d.state = 'failed' and d.ended_at >= ${since} and not d.is_test
       and p.deleted_at is null and p.disabled_at is null
       ${account === undefined ? sql`` : sql`and d.account_id = ${account}`}
       ${endpoint === undefined ? sql`` : sql`and d.endpoint_id = ${endpoint}`}`;
  const rows = await wake(sql, failed);
  for (const { id } of rows.slice(0, NOTIFIED_MAX)) notify({ kind: DELIVERY, id });
  return rows.length;
}

/** The same for one endpoint of an account. Throws an `ApiError` while it is disabled: nothing would be sent. */
export async function redeliverToEndpoint(
  webhooks: Webhooks,
  wanted: { account: string; endpoint: string; since: Date },
): Promise<number> {
  const { status } = await findEndpoint(webhooks.sql, wanted.account, wanted.endpoint);
  if (status === "disabled") {
    throw new ApiError("invalid_value", "This webhook endpoint is disabled. Enable it first.", {
      param: "id",
    });
  }
  return await redeliverFailed(webhooks, wanted);
}

/** Uses the current URL of the endpoint. A leased delivery is being sent and is not changed. */
function wake(sql: Queries, ids: postgres.PendingQuery<postgres.Row[]>) {
  return sql<{ id: string }[]>`
    update webhook_delivery d
       set state = 'pending', reason = null, wake_at = now(), ended_at = null, attempts_before_redelivery = attempts,
           url = coalesce(p.url, d.url), destination = coalesce(p.account_id || '/' || p.host, d.destination)
      from (${ids}) as wanted
      left join webhook_endpoint p
        on p.id = (select endpoint_id from webhook_delivery o where o.id = wanted.id)
     where d.id = wanted.id and d.lease_until is null
    returning d.id`;
}

/** Sends a test event once, also to a disabled endpoint. */
export async function sendTest(
  { sql, notify }: Webhooks,
  account: string,
  endpoint: string,
): Promise<WebhookDelivery> {
  const event = newId("evt");
  const data = { task_id: "task_test", status: "succeeded", output: [] };
  const [row] = await sql<[{ id: string }?]>`
    with target as (
      select * from webhook_endpoint
       where id = ${endpoint} and account_id = ${account} and deleted_at is null),
    made as (
      insert into webhook_event (id, account_id, type, data)
      select ${event}, account_id, 'webhook.test', ${JSON.stringify(data)} from target returning id)
    insert into webhook_delivery (id, event_id, account_id, endpoint_id, url, destination, wake_at, is_test)
    select 'dlv_' || substr(made.id, 5) || '00', made.id, account_id, target.id, url,
           account_id || '/' || host, now(), true
      from made, target
    returning id`;
  if (row === undefined) {
    throw new ApiError("not_found", "There is no such webhook endpoint.", { param: "id" });
  }
  notify({ kind: DELIVERY, id: row.id });
  const { payload: _payload, attempts: _attempts, ...delivery } = await findDelivery(sql, row.id);
  return delivery;
}
