import type { JsonSchema } from "./routes/schemas.ts";

/** The requests that the gateway sends, as OpenAPI describes them. */
export function webhooksSent(): JsonSchema {
  return {
    event: {
      post: {
        operationId: "receiveEvent",
        summary: "Receive the event of a task that has ended",
        description:
          "Sent to the `callback_url` of the request, or else to the webhook endpoints of the account. Signed as " +
          "Standard Webhooks defines it.",
        tags: ["Webhooks"],
        parameters: [
          header("webhook-id", "Id of the event, the same on every attempt."),
          header("webhook-timestamp", "Time of the attempt in Unix seconds. Reject old ones."),
          header(
            "webhook-signature",
            "`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`. Several signatures, separated by " +
              "spaces, while a secret is rotated.",
          ),
        ],
        requestBody: {
          required: true,
          content: {
            "application/json": { schema: { $ref: "#/components/schemas/WebhookEvent" } },
          },
        },
        responses: {
          "2XX": {
            description: "The event is delivered. After any other response it is sent again.",
          },
          "410": { description: "The endpoint is gone: it is disabled, and gets no more events." },
        },
      },
    },
  };
}

function header(name: string, description: string): JsonSchema {
  return { name, in: "header", required: true, description, schema: { type: "string" } };
}
