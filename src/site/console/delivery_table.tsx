import type { WebhookDelivery } from "../../domain/webhooks/deliveries.ts";
import { plural } from "../format.ts";
import { Badge } from "../parts.tsx";
import { Time } from "../time.tsx";
import { readableName } from "../readable_name.ts";
import { TableCard } from "./shell.tsx";

const STATUS_BADGES = { pending: "info", delivered: "good", failed: "bad" } as const;

export function DeliveryStatus({ status }: Pick<WebhookDelivery, "status">) {
  return (
    <Badge kind={STATUS_BADGES[status]} dot={status === "pending"}>{readableName(status)}</Badge>
  );
}

export function DeliveryTable(
  { deliveries, title, head, foot }: {
    deliveries: readonly WebhookDelivery[];
    title?: string;
    head?: Parameters<typeof TableCard>[0]["head"];
    foot?: Parameters<typeof TableCard>[0]["foot"];
  },
) {
  return (
    <TableCard
      title={title}
      head={head}
      foot={foot}
      columns={["Event", "To", "Status", "Response", "Created"]}
    >
      {deliveries.length === 0 && (
        <tr>
          <td colspan={5} class="faint">No deliveries.</td>
        </tr>
      )}
      {deliveries.map((delivery) => (
        <tr>
          <td data-label="Event">
            <a href={`/console/webhooks/deliveries/${delivery.id}`}>{delivery.event.type}</a>
          </td>
          <td data-label="To" class="break small">{delivery.url}</td>
          <td data-label="Status">
            <DeliveryStatus status={delivery.status} />
          </td>
          <td data-label="Response">
            <span>
              {delivery.last_status ?? (delivery.last_error === null ? "" : "No response")}
              {delivery.attempt_count > 1 && (
                <span class="faint">, {plural(delivery.attempt_count, "attempt")}</span>
              )}
            </span>
          </td>
          <td data-label="Created">
            <Time at={delivery.created} as="relative" />
          </td>
        </tr>
      ))}
    </TableCard>
  );
}
