import { findDelivery, listDeliveries } from "../../domain/webhooks/deliveries.ts";
import { redeliver, redeliverFailed } from "../../domain/webhooks/redeliver.ts";
import { bodySchema } from "../body_schema.ts";
import { readQuery } from "../endpoints/webhook_deliveries.ts";
import { type Endpoint, sendJson } from "../exchange.ts";
import { sendJsonPage } from "../paging.ts";
import { readJson } from "../read_json.ts";
import type { AdminDeps } from "./mount.ts";
import schema from "../../../schemas/requests/admin_webhook_redeliver.schema.json" with {
  type: "json",
};

const redelivery = bodySchema<{ since: string; account?: string; endpoint?: string }>(schema);

/** GET /admin/v1/webhooks/deliveries, of every account or of `?account=` */
export function listDeliveriesEndpoint({ webhooks: { sql } }: AdminDeps): Endpoint {
  return async function listDeliveriesEndpoint(c) {
    const { account } = c.req.query();
    const { data, hasMore } = await listDeliveries(sql, { ...readQuery(c), account });
    return sendJsonPage(data, hasMore);
  };
}

/** GET /admin/v1/webhooks/deliveries/{id}, with every attempt */
export function retrieveDelivery({ webhooks: { sql } }: AdminDeps): Endpoint {
  return async function retrieveDelivery(c) {
    return sendJson(JSON.stringify(await findDelivery(sql, c.req.param("id") ?? "")));
  };
}

/** POST /admin/v1/webhooks/deliveries/{id}/redeliver */
export function redeliverEndpoint({ webhooks }: AdminDeps): Endpoint {
  return async function redeliverEndpoint(c) {
    return sendJson(JSON.stringify(await redeliver(webhooks, c.req.param("id") ?? "")), 202);
  };
}

/** POST /admin/v1/webhooks/redeliver: all failed deliveries since a time */
export function redeliverFailedEndpoint({ webhooks }: AdminDeps): Endpoint {
  return async function redeliverFailedEndpoint(c) {
    const { since, ...filter } = redelivery(await readJson(c));
    const count = await redeliverFailed(webhooks, { ...filter, since: new Date(since) });
    return sendJson(JSON.stringify({ object: "webhook_redelivery", since, count }), 202);
  };
}
