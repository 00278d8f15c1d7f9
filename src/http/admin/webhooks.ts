import type { AdminWebhookRedelivery } from "../../../schemas/requests.ts";
import { findDelivery, listDeliveries } from "../../domain/webhooks/deliveries.ts";
import { audited } from "../../domain/audit/audit.ts";
import { repeatDelivery, repeatFailed } from "../../workflows/accounts/manage_webhooks.ts";
import { actorOf } from "./actor.ts";
import { readQuery } from "../endpoints/webhook_deliveries.ts";
import { type BodyEndpoint, type Endpoint, sendJson } from "../exchange.ts";
import { sendJsonPage } from "../paging.ts";
import type { RouteDeps } from "../routes/route.ts";

/** GET /admin/v1/webhooks/deliveries, of every account or of `?account=` */
export function listDeliveriesEndpoint({ webhooks: { sql } }: RouteDeps): Endpoint {
  return async function listDeliveriesEndpoint(c) {
    const { account } = c.req.query();
    const { data, hasMore } = await listDeliveries(sql, { ...readQuery(c), account });
    return sendJsonPage(data, hasMore);
  };
}

/** GET /admin/v1/webhooks/deliveries/{id}, with every attempt */
export function retrieveDelivery({ webhooks: { sql } }: RouteDeps): Endpoint {
  return async function retrieveDelivery(c) {
    return sendJson(JSON.stringify(await findDelivery(sql, c.req.param("id") ?? "")));
  };
}

/** POST /admin/v1/webhooks/deliveries/{id}/redeliver */
export function redeliverEndpoint(deps: RouteDeps): Endpoint {
  return async function redeliverEndpoint(c) {
    const id = c.req.param("id") ?? "";
    const delivery = await audited(
      deps,
      actorOf(c),
      (change) => repeatDelivery(change, deps.webhooks, { id }),
    );
    return sendJson(JSON.stringify(delivery), 202);
  };
}

/** POST /admin/v1/webhooks/redeliver: all failed deliveries since a time */
export function redeliverFailedEndpoint(deps: RouteDeps): BodyEndpoint<AdminWebhookRedelivery> {
  return async function redeliverFailedEndpoint(c, { since, ...filter }) {
    const failed = { ...filter, since: new Date(since) };
    const count = await audited(
      deps,
      actorOf(c),
      (change) => repeatFailed(change, deps.webhooks, failed),
    );
    return sendJson(JSON.stringify({ object: "webhook_redelivery", since, count }), 202);
  };
}
