import { listOperatorRequests, retrieveOperatorRequest } from "../admin/requests.ts";
import { listRequestsEndpoint, retrieveRequest } from "../endpoints/requests.ts";
import { inPath, PAGE, PERIOD, query, type RouteParameter } from "./parameters.ts";
import { fixedRoute, json, operationRoute, type RouteArea } from "./route.ts";
import { SAMPLE } from "./sample_ids.ts";

const REQUEST_ID = inPath("id", "Id of the request: the header `x-request-id` of its response.");

const FILTERS: readonly RouteParameter[] = [
  ...PERIOD,
  query("status", "Only responses with this status, such as `429`, or of a class, such as `4xx`."),
  query("model", "Only requests that named this model."),
  query("key", "Only requests with this API key, by its id."),
  query("endpoint", "Only requests to this endpoint, by its operation, such as `chat`."),
  query(
    "id",
    "Only the request with this id: its own, or your `X-Client-Request-Id`, which several may share.",
  ),
];

export const requestRoutes: RouteArea = {
  title: "Request log",
  routes: [
    operationRoute({
      operation: "requests",
      method: "GET",
      path: "/requests",
      auth: "api_key",
      summary: "List your requests",
      description:
        "Every request with a valid API key, refused ones too. A row appears within a second after the response.",
      parameters: [...PAGE, ...FILTERS],
      responses: { 200: json("RequestList", "The requests, newest first.") },
      example: { query: { status: "2xx", endpoint: "chat", from: "2026-01-01T00:00:00Z" } },
      handler: listRequestsEndpoint,
    }),
    operationRoute({
      operation: "requests",
      method: "GET",
      path: "/requests/{id}",
      auth: "api_key",
      summary: "Retrieve a request of the log",
      parameters: [REQUEST_ID],
      responses: { 200: json("RequestDetail", "The request.") },
      example: { path: { id: SAMPLE.request } },
      handler: retrieveRequest,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/requests",
      auth: "admin_token",
      scope: "read",
      summary: "List requests of all accounts with their attempts at upstreams",
      parameters: [...PAGE, query("account", "Only requests of this account."), ...FILTERS],
      responses: { 200: json("OperatorRequestList", "The requests, newest first.") },
      example: { query: { status: "2xx" } },
      handler: listOperatorRequests,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/requests/{id}",
      auth: "admin_token",
      scope: "read",
      summary: "Retrieve a request of the log with its attempts at upstreams",
      parameters: [REQUEST_ID],
      responses: { 200: json("OperatorRequestDetail", "The request.") },
      example: { path: { id: SAMPLE.request } },
      handler: retrieveOperatorRequest,
    }),
  ],
};
