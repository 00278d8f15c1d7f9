import type { Queries } from "../../platform/database/database.ts";
import type { DeliveryMessage } from "./enqueue_event.ts";
import type { SecretBox } from "../../platform/secrets/types.ts";

/** Dependencies of endpoint and delivery management. */
export interface Webhooks {
  readonly sql: Queries;
  /** Statements of `run` happen together, or not at all. */
  begin<T>(run: (sql: Queries) => Promise<T>): Promise<T>;
  readonly secretBox: SecretBox;
  /** Called after the statement that created the delivery. */
  notify(message: DeliveryMessage): void;
}

/** Pending deliveries and endpoints that the gateway disabled; for metrics. */
export async function countWebhooks(sql: Queries): Promise<{ pending: number; disabled: number }> {
  const [row] = await sql<[{ pending: number; disabled: number }]>`
    select (select count(*)::int from webhook_delivery where wake_at is not null) as pending,
           (select count(*)::int from webhook_endpoint
             where disabled_reason in ('gone', 'failing') and deleted_at is null) as disabled`;
  return row;
}
