import {
  DELIVERY_STATES,
  findDelivery,
  listDeliveries,
  type WebhookDelivery,
} from "../../domain/webhooks/deliveries.ts";
import { findEndpoint } from "../../domain/webhooks/endpoints.ts";
import { redeliver } from "../../domain/webhooks/redeliver.ts";
import type { Webhooks } from "../../domain/webhooks/webhooks.ts";
import { accountOf, type Endpoint, type HttpContext, sendJson } from "../exchange.ts";
import { readPage, sendJsonPage } from "../paging.ts";
import { readChoice } from "../read_choice.ts";
import { readPeriod } from "./usage.ts";

interface WebhookDeps {
  webhooks: Webhooks;
}

/** GET /v1/webhook_deliveries: the delivery log. */
export function listOwnDeliveries({ webhooks: { sql } }: WebhookDeps): Endpoint {
  return async function listOwnDeliveries(c) {
    const account = accountOf(c).id;
    const { data, hasMore } = await listDeliveries(sql, { ...readQuery(c), account });
    return sendJsonPage(data.map(withoutAccount), hasMore);
  };
}

/** GET /v1/webhook_deliveries/{id} */
export function retrieveOwnDelivery({ webhooks: { sql } }: WebhookDeps): Endpoint {
  return async function retrieveOwnDelivery(c) {
    const delivery = await findDelivery(sql, c.req.param("id") ?? "", accountOf(c).id);
    return sendJson(JSON.stringify(withoutAccount(delivery)));
  };
}

/** POST /v1/webhook_deliveries/{id}/redeliver */
export function redeliverOwn({ webhooks }: WebhookDeps): Endpoint {
  return async function redeliverOwn(c) {
    const delivery = await redeliver(webhooks, c.req.param("id") ?? "", accountOf(c).id);
    return sendJson(JSON.stringify(withoutAccount(delivery)), 202);
  };
}

/** GET /v1/webhook_endpoints/{id}/deliveries */
export function deliveriesOfEndpoint({ webhooks: { sql } }: WebhookDeps): Endpoint {
  return async function deliveriesOfEndpoint(c) {
    const account = accountOf(c).id;
    const { id: endpoint } = await findEndpoint(sql, account, c.req.param("id") ?? "");
    const { data, hasMore } = await listDeliveries(sql, { ...readQuery(c), account, endpoint });
    return sendJsonPage(data.map(withoutAccount), hasMore);
  };
}

/** `?status=&endpoint=&task=&from=&to=` and the page. */
export function readQuery(c: HttpContext) {
  const status = readChoice(c, "status", DELIVERY_STATES);
  const { endpoint, task } = c.req.query();
  return { ...readPage(c), ...readPeriod(c), status, endpoint, task };
}

/** Clients do not need the account: it is their own. */
function withoutAccount<T extends WebhookDelivery>({ account: _, ...delivery }: T) {
  return delivery;
}
