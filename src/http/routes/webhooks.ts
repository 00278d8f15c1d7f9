import { REQUESTS } from "../../../schemas/requests.ts";
import { DELIVERY_STATES } from "../../domain/webhooks/deliveries.ts";
import {
  deliveriesOfEndpoint,
  listOwnDeliveries,
  redeliverOwn,
  retrieveOwnDelivery,
} from "../endpoints/webhook_deliveries.ts";
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  disableWebhookEndpoint,
  enableWebhookEndpoint,
  listWebhookEndpoints,
  redeliverWebhooks,
  retrieveWebhookEndpoint,
  retrieveWebhookSecret,
  rotateWebhookSecret,
  testWebhookEndpoint,
  updateWebhookEndpoint,
} from "../endpoints/webhook_endpoints.ts";
import { requestBody, withoutRequired } from "../request_body.ts";
import { choice, inPath, PAGE, PERIOD, query, type RouteParameter } from "./parameters.ts";
import { json, operationRoute, type RouteArea } from "./route.ts";
import { SAMPLE } from "./sample_ids.ts";

/** The filters of the delivery log. */
export const DELIVERY_LOG: readonly RouteParameter[] = [
  ...PAGE,
  choice("status", "Only deliveries with this status.", DELIVERY_STATES),
  query("task", "Only deliveries of this task."),
  ...PERIOD,
];
export const OF_ENDPOINT = query("endpoint", "Only deliveries to this webhook endpoint.");
export const DELIVERY_ID = inPath("id", "Id of the delivery.");

const ENDPOINTS = { operation: "webhook_endpoints", auth: "api_key" } as const;
const DELIVERIES = { operation: "webhook_deliveries", auth: "api_key" } as const;
const ON_ENDPOINT = {
  ...ENDPOINTS,
  parameters: [inPath("id", "Id of the webhook endpoint.")],
} as const;
const OF_SECRET = {
  ...ENDPOINTS,
  parameters: [
    inPath(
      "id",
      "Id of the webhook endpoint, or `default`: the secret that signs events sent to a `callback_url`.",
    ),
  ],
} as const;
const AT_ENDPOINT = { path: { id: SAMPLE.endpoint } };
const AT_DELIVERY = { path: { id: SAMPLE.delivery } };

export const webhookRoutes: RouteArea = {
  title: "Webhooks",
  routes: [
    operationRoute({
      ...ENDPOINTS,
      method: "GET",
      path: "/webhook_endpoints",
      summary: "List your webhook endpoints",
      parameters: PAGE,
      responses: { 200: json("WebhookEndpointList", "The webhook endpoints, newest first.") },
      example: {},
      handler: listWebhookEndpoints,
    }),
    operationRoute({
      ...ENDPOINTS,
      method: "POST",
      path: "/webhook_endpoints",
      summary: "Create a webhook endpoint",
      request: requestBody(REQUESTS.webhook_endpoints),
      responses: { 201: json("WebhookEndpoint", "The webhook endpoint, with its secret.") },
      example: {
        body: {
          url: "https://example.com/webhooks",
          description: "Production",
          event_types: ["task.succeeded", "task.failed"],
        },
      },
      handler: createWebhookEndpoint,
    }),
    operationRoute({
      ...ON_ENDPOINT,
      method: "GET",
      path: "/webhook_endpoints/{id}",
      summary: "Retrieve a webhook endpoint",
      responses: { 200: json("WebhookEndpoint", "The webhook endpoint.") },
      example: AT_ENDPOINT,
      handler: retrieveWebhookEndpoint,
    }),
    operationRoute({
      ...ON_ENDPOINT,
      method: "POST",
      path: "/webhook_endpoints/{id}",
      summary: "Change a webhook endpoint",
      description:
        "Fields that are left out keep their values. Pending deliveries go to the new URL.",
      request: requestBody(withoutRequired(REQUESTS.webhook_endpoints, "WebhookEndpointChanges")),
      responses: { 200: json("WebhookEndpoint", "The changed webhook endpoint.") },
      example: { ...AT_ENDPOINT, body: { description: "Staging" } },
      handler: updateWebhookEndpoint,
    }),
    operationRoute({
      ...ON_ENDPOINT,
      method: "DELETE",
      path: "/webhook_endpoints/{id}",
      summary: "Delete a webhook endpoint",
      description: "Its pending deliveries fail.",
      responses: { 200: json("WebhookEndpointDeleted", "The webhook endpoint is deleted.") },
      example: AT_ENDPOINT,
      handler: deleteWebhookEndpoint,
    }),
    operationRoute({
      ...ON_ENDPOINT,
      method: "POST",
      path: "/webhook_endpoints/{id}/enable",
      summary: "Enable a webhook endpoint",
      description: "Past failures no longer count.",
      responses: { 200: json("WebhookEndpoint", "The enabled webhook endpoint.") },
      example: AT_ENDPOINT,
      handler: enableWebhookEndpoint,
    }),
    operationRoute({
      ...ON_ENDPOINT,
      method: "POST",
      path: "/webhook_endpoints/{id}/disable",
      summary: "Disable a webhook endpoint",
      description: "Its pending deliveries fail; no further events are sent to it.",
      responses: { 200: json("WebhookEndpoint", "The disabled webhook endpoint.") },
      example: AT_ENDPOINT,
      handler: disableWebhookEndpoint,
    }),
    operationRoute({
      ...ON_ENDPOINT,
      method: "POST",
      path: "/webhook_endpoints/{id}/test",
      summary: "Send a test event to a webhook endpoint",
      description: "The event has the type `webhook.test`. It is sent once, without retries.",
      responses: { 202: json("WebhookDelivery", "The delivery of the test event.") },
      example: AT_ENDPOINT,
      handler: testWebhookEndpoint,
    }),
    operationRoute({
      ...OF_SECRET,
      method: "GET",
      path: "/webhook_endpoints/{id}/secret",
      summary: "Retrieve the secret that signs events",
      responses: { 200: json("WebhookSecret", "The secret.") },
      example: AT_ENDPOINT,
      handler: retrieveWebhookSecret,
    }),
    operationRoute({
      ...OF_SECRET,
      method: "POST",
      path: "/webhook_endpoints/{id}/rotate_secret",
      summary: "Replace the secret that signs events",
      description:
        "The previous secret also signs events for some time: a day unless the body says otherwise.",
      request: requestBody(REQUESTS.webhook_rotate_secret, { isOptional: true }),
      responses: { 200: json("WebhookSecret", "The new secret.") },
      example: { ...AT_ENDPOINT, body: { overlap_seconds: 3600 } },
      handler: rotateWebhookSecret,
    }),
    operationRoute({
      ...ON_ENDPOINT,
      method: "POST",
      path: "/webhook_endpoints/{id}/redeliver",
      summary: "Send failed events of a period again",
      request: requestBody(REQUESTS.webhook_redeliver),
      responses: {
        202: json("WebhookRedeliveryCount", "The number of deliveries that are sent again."),
      },
      example: { ...AT_ENDPOINT, body: { since: "2026-01-31T00:00:00Z" } },
      handler: redeliverWebhooks,
    }),
    operationRoute({
      ...ENDPOINTS,
      method: "GET",
      path: "/webhook_endpoints/{id}/deliveries",
      summary: "List the deliveries to a webhook endpoint",
      parameters: [...ON_ENDPOINT.parameters, ...DELIVERY_LOG],
      responses: { 200: json("WebhookDeliveryList", "The deliveries, newest first.") },
      example: { ...AT_ENDPOINT, query: { status: "delivered" } },
      handler: deliveriesOfEndpoint,
    }),
    operationRoute({
      ...DELIVERIES,
      method: "GET",
      path: "/webhook_deliveries",
      summary: "List your deliveries",
      parameters: [...DELIVERY_LOG, OF_ENDPOINT],
      responses: { 200: json("WebhookDeliveryList", "The deliveries, newest first.") },
      example: { query: { status: "failed" } },
      handler: listOwnDeliveries,
    }),
    operationRoute({
      ...DELIVERIES,
      method: "GET",
      path: "/webhook_deliveries/{id}",
      summary: "Retrieve a delivery with its payload and attempts",
      parameters: [DELIVERY_ID],
      responses: { 200: json("WebhookDelivery", "The delivery.") },
      example: AT_DELIVERY,
      handler: retrieveOwnDelivery,
    }),
    operationRoute({
      ...DELIVERIES,
      method: "POST",
      path: "/webhook_deliveries/{id}/redeliver",
      summary: "Send an event again",
      description: "The event keeps its id.",
      parameters: [DELIVERY_ID],
      responses: { 202: json("WebhookDelivery", "The delivery, which is pending again.") },
      example: AT_DELIVERY,
      handler: redeliverOwn,
    }),
  ],
};
