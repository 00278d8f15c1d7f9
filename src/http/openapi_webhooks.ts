import { DELIVERY_STATES } from "../domain/webhooks/deliveries.ts";
import {
  admin,
  type JsonSchemaObject,
  type OpenApiCall,
  type OperationCall,
  PAGE,
  PERIOD,
  query,
} from "./openapi_calls.ts";
import adminRedelivery from "../../schemas/requests/admin_webhook_redeliver.schema.json" with {
  type: "json",
};
import newEndpoint from "../../schemas/requests/webhook_endpoints.schema.json" with {
  type: "json",
};
import redelivery from "../../schemas/requests/webhook_redeliver.schema.json" with { type: "json" };
import rotation from "../../schemas/requests/webhook_rotate_secret.schema.json" with {
  type: "json",
};
import answers from "../../schemas/webhooks.schema.json" with { type: "json" };
import event from "../../schemas/webhook_event.schema.json" with { type: "json" };

const LOG = [
  ...PAGE,
  query("status", "Only in this state.", { enum: [...DELIVERY_STATES] }),
  query("task", "Only of this task.", { type: "string" }),
  ...PERIOD,
];
const OF_ENDPOINT = query("endpoint", "Only to this endpoint.", { type: "string" });

const on = (
  path: string,
  summary: string,
  answer: string,
  more: Partial<OperationCall> = {},
): OperationCall => ({ method: "post", path, summary, answer, ...more });
const get = (
  path: string,
  summary: string,
  answer: string,
  parameters?: JsonSchemaObject[],
): OperationCall => ({
  method: "get",
  path,
  summary,
  answer,
  ...(parameters === undefined ? {} : { parameters }),
});

/** The part of the document that is about receivers of events. */
export const WEBHOOK_CALLS: Readonly<Record<string, OperationCall[]>> = {
  webhook_endpoints: [
    get("", "Where this account wants its events", "WebhookEndpointList", PAGE),
    on("", "Add an endpoint; the answer holds its secret", "WebhookEndpoint", {
      body: "NewWebhookEndpoint",
      status: 201,
    }),
    get("/{id}", "One endpoint", "WebhookEndpoint"),
    on("/{id}", "Change an endpoint; what still waits goes to the new address", "WebhookEndpoint", {
      body: "WebhookEndpointChanges",
    }),
    {
      method: "delete",
      path: "/{id}",
      summary: "Remove an endpoint and give up what waits for it",
      answer: "WebhookEndpointDeleted",
    },
    on("/{id}/enable", "Enable it again, with a clean record", "WebhookEndpoint"),
    on("/{id}/disable", "Send it nothing; what waits is given up", "WebhookEndpoint"),
    on("/{id}/test", "Send an event of type webhook.test, once", "WebhookDelivery", {
      status: 202,
    }),
    get("/{id}/secret", "What signs; `default` as id: for the callback_url", "WebhookSecret"),
    on("/{id}/rotate_secret", "A new secret; both sign for a day", "WebhookSecret", {
      body: "WebhookRotation",
      bodyIsOptional: true,
    }),
    on(
      "/{id}/redeliver",
      "Send again what was given up since a moment",
      "WebhookRedeliveryCount",
      { body: "WebhookRedelivery", status: 202 },
    ),
    get("/{id}/deliveries", "What was sent to it, newest first", "WebhookDeliveryList", LOG),
  ],
  webhook_deliveries: [
    get("", "What was sent, newest first", "WebhookDeliveryList", [...LOG, OF_ENDPOINT]),
    get("/{id}", "One delivery, with payload and attempts", "WebhookDelivery"),
    on("/{id}/redeliver", "Send it again, with the same id", "WebhookDelivery", { status: 202 }),
  ],
};

export const WEBHOOK_ADMIN_CALLS: readonly OpenApiCall[] = [
  admin("get", "/webhooks/deliveries", "What was sent, for any account", {
    answer: "WebhookDeliveryList",
    parameters: [...LOG, OF_ENDPOINT, query("account", "Only of this one.", { type: "string" })],
  }),
  admin("get", "/webhooks/deliveries/{id}", "One delivery, with every attempt", {
    answer: "WebhookDelivery",
  }),
  admin("post", "/webhooks/deliveries/{id}/redeliver", "Send it again", {
    answer: "WebhookDelivery",
    status: 202,
  }),
  admin("post", "/webhooks/redeliver", "Send again what was given up since a moment", {
    answer: "WebhookRedeliveryCount",
    body: "AdminWebhookRedelivery",
    status: 202,
  }),
];

export const WEBHOOK_BODIES = [
  newEndpoint,
  { ...newEndpoint, title: "WebhookEndpointChanges", required: [] },
  rotation,
  redelivery,
  adminRedelivery,
  event,
];

export const WEBHOOK_ANSWERS = answers.$defs;
export const WEBHOOK_LISTS = ["WebhookEndpoint", "WebhookDelivery"];

/** What we send, as OpenAPI describes it. */
export function webhooksSent(): JsonSchemaObject {
  const header = (name: string, description: string): JsonSchemaObject => ({
    name,
    in: "header",
    required: true,
    description,
    schema: { type: "string" },
  });
  return {
    event: {
      post: {
        operationId: "receiveEvent",
        summary: "A task has ended",
        description:
          "Sent to the request's callback_url, else to the account's endpoints; signed as Standard Webhooks wants it.",
        tags: ["webhook_endpoints"],
        parameters: [
          header("webhook-id", "Of the event, the same on every attempt."),
          header("webhook-timestamp", "Of the attempt, in Unix seconds: refuse what is old."),
          header(
            "webhook-signature",
            "`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; several, with spaces between, while a secret is rotated.",
          ),
        ],
        requestBody: {
          required: true,
          content: {
            "application/json": { schema: { $ref: "#/components/schemas/WebhookEvent" } },
          },
        },
        responses: {
          "2XX": { description: "Taken. Anything else, and silence, is tried again later." },
          "410": { description: "Never again: the endpoint is disabled." },
        },
      },
    },
  };
}
