import type { WebhookDelivery } from "../../domain/webhooks/deliveries.ts";
import { Badge } from "../parts.tsx";
import { ago, moment, plural } from "./format.ts";
import { TableCard } from "./shell.tsx";

const KINDS = { pending: "info", delivered: "good", failed: "bad" } as const;

export function DeliveryState({ status }: Pick<WebhookDelivery, "status">) {
  return <Badge kind={KINDS[status]} dot={status === "pending"}>{status}</Badge>;
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
      columns={["Event", "To", "State", "Answer", "Created"]}
    >
      {deliveries.length === 0 && (
        <tr>
          <td colspan={5} class="faint">None.</td>
        </tr>
      )}
      {deliveries.map((delivery) => (
        <tr>
          <td data-label="Event">
            <a href={`/console/webhooks/deliveries/${delivery.id}`}>{delivery.event.type}</a>
          </td>
          <td data-label="To" class="break small">{delivery.url}</td>
          <td data-label="State">
            <DeliveryState status={delivery.status} />
          </td>
          <td data-label="Answer">
            <span>
              {delivery.last_status ?? (delivery.last_error === null ? "" : "no answer")}
              {delivery.attempt_count > 1 && (
                <span class="faint">, {plural(delivery.attempt_count, "attempt")}</span>
              )}
            </span>
          </td>
          <td data-label="Created" class="nowrap">
            <time
              datetime={new Date(delivery.created * 1000).toISOString()}
              title={moment(delivery.created)}
            >
              {ago(delivery.created)}
            </time>
          </td>
        </tr>
      ))}
    </TableCard>
  );
}
