import {
  DELIVERY,
  type DeliveryMessage,
  eventItem,
} from "../../src/domain/webhooks/enqueue_event.ts";
import type { NewEvent } from "../../src/domain/webhooks/event.ts";
import type { Queries } from "../../src/platform/database/database.ts";

/** Writes the event of a task that has ended, and its deliveries, as `task_finish` does. */
export async function enqueueEvent(
  sql: Queries,
  event: NewEvent,
): Promise<readonly DeliveryMessage[]> {
  const { account: account_id, taskId: task_id, callbackUrl: url } = event;
  const doc = JSON.stringify([{ ...eventItem(event), account_id, task_id, url }]);
  const rows = await sql<{ delivery_id: string }[]>`
    select delivery_id from webhook_enqueue(${doc}::text::json)`;
  return rows.map(({ delivery_id }) => ({ kind: DELIVERY, id: delivery_id }));
}
