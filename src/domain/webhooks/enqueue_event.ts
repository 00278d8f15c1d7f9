import { newId } from "../../lib/ids.ts";
import type { Queries } from "../../platform/database/database.ts";
import { hostOf, type NewEvent } from "./event.ts";

/** The queue's kind of message for deliveries. */
export const DELIVERY = "delivery";

/** The queue's `JobMessage`, repeated here because this layer cannot import it. */
export interface DeliveryMessage {
  readonly kind: typeof DELIVERY;
  readonly id: string;
}

/**
 * Writes an event and one delivery per receiver, inside the transaction that ends the task: the
 * request's `callback_url` if it had one, else every enabled endpoint of the account that wants the
 * type. Without a receiver, or once the account is closed, nothing is written. A task has one event, so a
 * second call does nothing; the task's row, which the transaction has changed, keeps two calls apart.
 *
 * The queue is to be notified of the result after the commit.
 */
export async function enqueueEvent(
  sql: Queries,
  event: NewEvent,
): Promise<readonly DeliveryMessage[]> {
  const id = newId("evt");
  const { account, callbackUrl: url } = event;
  const rows = await sql<{ id: string }[]>`
    with target as (
      select null::text as endpoint_id, ${url}::text as url, ${
    url === null ? "" : hostOf(url)
  }::text as host
       where ${url}::text is not null
       union all
      select id, url, host from webhook_endpoint
       where ${url}::text is null and account_id = ${account} and deleted_at is null
         and disabled_at is null and (event_types is null or ${event.type} = any (event_types))),
    made as (
      insert into webhook_event (id, account_id, task_id, type, data)
      select ${id}, ${account}, ${event.taskId}, ${event.type}, ${JSON.stringify(event.data)}
       where exists (select from target)
         and not exists (select from account where id = ${account} and closed_at is not null)
         and not exists (select from webhook_event where task_id = ${event.taskId})
      returning id)
    insert into webhook_delivery (id, event_id, account_id, endpoint_id, url, destination, wake_at)
    select 'dlv_' || substr(made.id, 5) || lpad(row_number() over (order by endpoint_id)::text, 2, '0'),
           made.id, ${account}, endpoint_id, url, ${account} || '/' || host, now()
      from made, target
    returning id`;
  return rows.map((row) => ({ kind: DELIVERY, id: row.id }));
}
