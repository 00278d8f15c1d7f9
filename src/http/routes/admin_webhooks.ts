import { REQUESTS } from "../../../schemas/requests.ts";
import {
  listDeliveriesEndpoint,
  redeliverEndpoint,
  redeliverFailedEndpoint,
  retrieveDelivery,
} from "../admin/webhooks.ts";
import { requestBody } from "../request_body.ts";
import { query } from "./parameters.ts";
import { fixedRoute, json, type RouteArea } from "./route.ts";
import { SAMPLE } from "./sample_ids.ts";
import { DELIVERY_ID, DELIVERY_LOG, OF_ENDPOINT } from "./webhooks.ts";

export const adminWebhookRoutes: RouteArea = {
  title: "Webhook deliveries of all accounts",
  routes: [
    fixedRoute({
      method: "GET",
      path: "/admin/v1/webhooks/deliveries",
      auth: "admin_token",
      scope: "read",
      summary: "List deliveries of all accounts",
      parameters: [
        ...DELIVERY_LOG,
        OF_ENDPOINT,
        query("account", "Only deliveries of this account."),
      ],
      responses: { 200: json("WebhookDeliveryList", "The deliveries, newest first.") },
      example: { query: { status: "failed", account: SAMPLE.account } },
      handler: listDeliveriesEndpoint,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/webhooks/deliveries/{id}",
      auth: "admin_token",
      scope: "read",
      summary: "Retrieve a delivery with its payload and attempts",
      parameters: [DELIVERY_ID],
      responses: { 200: json("WebhookDelivery", "The delivery.") },
      example: { path: { id: SAMPLE.delivery } },
      handler: retrieveDelivery,
    }),
    fixedRoute({
      method: "POST",
      path: "/admin/v1/webhooks/deliveries/{id}/redeliver",
      auth: "admin_token",
      scope: "support",
      summary: "Send an event again",
      parameters: [DELIVERY_ID],
      responses: { 202: json("WebhookDelivery", "The delivery, which is pending again.") },
      example: { path: { id: SAMPLE.delivery } },
      handler: redeliverEndpoint,
    }),
    fixedRoute({
      method: "POST",
      path: "/admin/v1/webhooks/redeliver",
      auth: "admin_token",
      scope: "support",
      summary: "Send failed events of a period again",
      request: requestBody(REQUESTS.admin_webhook_redeliver),
      responses: {
        202: json("WebhookRedeliveryCount", "The number of deliveries that are sent again."),
      },
      example: { body: { since: "2026-01-31T00:00:00Z", account: SAMPLE.account } },
      handler: redeliverFailedEndpoint,
    }),
  ],
};
