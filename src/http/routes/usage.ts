import { REQUESTS } from "../../../schemas/requests.ts";
import { retrieveBalance } from "../endpoints/balance.ts";
import { retrieveKey } from "../endpoints/key.ts";
import { createQuote } from "../endpoints/quotes.ts";
import { listUsageEndpoint, retrieveReceipt } from "../endpoints/usage.ts";
import { requestBody } from "../request_body.ts";
import { type OfferedGroups, OWN_GROUPS } from "../usage_query.ts";
import { choice, inPath, PAGE, PERIOD, query, type RouteParameter } from "./parameters.ts";
import { json, operationRoute, type RouteArea } from "./route.ts";
import { SAMPLE } from "./sample_ids.ts";

/** The parameters of a report, without `account` and `model`. */
export function usageReportParameters(groups: OfferedGroups, byDefault?: string): RouteParameter[] {
  return [
    query(
      "group_by",
      `Names out of ${groups.map((name) => `\`${name}\``).join(", ")} and \`metadata.<name>\`, ` +
        "separated by commas, four at most.",
      { type: "string", ...(byDefault === undefined ? {} : { default: byDefault }) },
    ),
    query("key", "With `group_by`: only requests with this API key, by its id."),
    query("user", "With `group_by`: only requests with this `user`."),
    query("endpoint", "With `group_by`: only requests to this endpoint, such as `chat`."),
    query("metadata.<name>", "With `group_by`: only requests with this value in their metadata."),
    choice("format", "As the header `Accept`: `csv` or `json`.", ["json", "csv"]),
    ...PERIOD,
  ];
}

export const usageRoutes: RouteArea = {
  title: "Balance, usage and API key",
  routes: [
    operationRoute({
      operation: "retrieve_balance",
      method: "GET",
      path: "/balance",
      auth: "api_key",
      summary: "Retrieve your balance and quotas",
      responses: { 200: json("Balance", "The balance.") },
      example: {},
      handler: retrieveBalance,
    }),
    operationRoute({
      operation: "retrieve_key",
      method: "GET",
      path: "/key",
      auth: "api_key",
      summary: "Retrieve the API key of this request and what it may do",
      responses: { 200: json("ApiKey", "The API key, without the key itself.") },
      example: {},
      handler: retrieveKey,
    }),
    operationRoute({
      operation: "usage",
      method: "GET",
      path: "/usage",
      auth: "api_key",
      summary: "List your receipts, or sum them up",
      description:
        "With `group_by` the response is the sums of what was charged in the period. Without it, CSV is the " +
        "statement of the period: every transfer.",
      parameters: [
        ...PAGE,
        query("model", "Only requests to this model."),
        ...usageReportParameters(OWN_GROUPS),
      ],
      responses: {
        200: {
          description: "The receipts, newest first, or sums of them.",
          content: { "application/json": "ReceiptsOrUsage", "text/csv": null },
        },
      },
      example: { query: { model: "sim-chat", from: "2026-01-01T00:00:00Z" } },
      handler: listUsageEndpoint,
    }),
    operationRoute({
      operation: "usage",
      method: "GET",
      path: "/usage/{request_id}",
      auth: "api_key",
      summary: "Retrieve the receipt of a request",
      parameters: [
        inPath("request_id", "Id of the request: the header `x-request-id` of its response."),
      ],
      responses: { 200: json("Receipt", "The receipt.") },
      example: { path: { request_id: SAMPLE.request } },
      handler: retrieveReceipt,
    }),
    operationRoute({
      operation: "quotes",
      method: "POST",
      path: "/quotes",
      auth: "api_key",
      summary: "Estimate the maximum cost of a request",
      description: "Raises the same errors as the request itself. Nothing is held or charged.",
      request: requestBody(REQUESTS.quotes),
      responses: { 200: json("Quote", "The quote.") },
      example: {
        body: {
          path: "/images/generations",
          body: { model: "sim-image", prompt: "a lighthouse at dusk", n: 2 },
        },
      },
      handler: createQuote,
    }),
  ],
};
