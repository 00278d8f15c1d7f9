import { ApiError } from "../../lib/api_error.ts";
import type { BodyLog } from "../../domain/requests/body_log.ts";
import {
  findRequest,
  listRequests,
  type RequestFilter,
  STATUS_CLASSES,
  type StatusFilter,
  toStatusFilter,
} from "../../domain/requests/find_requests.ts";
import type { RequestLog } from "../../domain/requests/request_log.ts";
import type { Database } from "../../platform/database/database.ts";
import { accountOf, type Endpoint, type HttpContext, sendJson } from "../exchange.ts";
import { readPage, sendJsonPage } from "../paging.ts";
import { readPeriod } from "./usage.ts";

export interface RequestEndpointDeps {
  database: Database;
  requestLog: RequestLog;
  bodyLog: BodyLog;
}

/** GET /v1/requests: the account's requests, newest first. */
export function listRequestsEndpoint({ database, requestLog }: RequestEndpointDeps): Endpoint {
  return async function listRequestsEndpoint(c) {
    const filter = { ...readRequestFilter(c), account: accountOf(c).id };
    const query = { ...readPage(c), ...filter };
    // A client that has a response of this node finds its row.
    await requestLog.flush();
    const { currency } = c.env.config.service;
    const { data, hasMore } = await listRequests(database.sql, query, currency);
    return sendJsonPage(data, hasMore);
  };
}

/** GET /v1/requests/{id}: with its bodies, where they are kept. */
export function retrieveRequest({ database, requestLog, bodyLog }: RequestEndpointDeps): Endpoint {
  return async function retrieveRequest(c) {
    await requestLog.flush();
    const id = c.req.param("id") ?? "";
    const { currency } = c.env.config.service;
    const request = await findRequest(database.sql, accountOf(c).id, id, currency);
    return sendJson(JSON.stringify({ ...request, bodies: await bodyLog.find(id) }));
  };
}

/** The filters of a list, from its query. */
export function readRequestFilter(c: HttpContext): RequestFilter {
  const { key, model, endpoint, id } = c.req.query();
  return { key, model, endpoint, id, status: readStatus(c), ...readPeriod(c) };
}

function readStatus(c: HttpContext): StatusFilter | undefined {
  const text = c.req.query("status");
  if (text === undefined) return undefined;
  const status = toStatusFilter(text);
  if (status !== undefined) return status;
  const classes = STATUS_CLASSES.join(", ");
  const message = `status must be an HTTP status such as 429, or one of ${classes}.`;
  throw new ApiError("invalid_value", message, { param: "status" });
}
