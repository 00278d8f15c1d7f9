import { listRequestsForOperator } from "../../domain/requests/find_requests.ts";
import { findRequestWithAttempts } from "../../workflows/tasks/task_attempts.ts";
import { readRequestFilter } from "../endpoints/requests.ts";
import { type Endpoint, sendJson } from "../exchange.ts";
import { readPage, sendJsonPage } from "../paging.ts";
import type { RouteDeps } from "../routes/route.ts";

/** GET /admin/v1/requests: requests of all accounts, with the upstreams that were tried. */
export function listOperatorRequests({ database, requestLog }: RouteDeps): Endpoint {
  return async function listOperatorRequests(c) {
    const query = { ...readPage(c), ...readRequestFilter(c), account: c.req.query("account") };
    await requestLog.flush();
    const { currency } = c.env.config.service;
    const { data, hasMore } = await listRequestsForOperator(database.sql, query, currency);
    return sendJsonPage(data, hasMore);
  };
}

/** GET /admin/v1/requests/{id}: with the attempts of its task, and its bodies where they are kept. */
export function retrieveOperatorRequest(
  { database, requestLog, bodyLog }: RouteDeps,
): Endpoint {
  return async function retrieveOperatorRequest(c) {
    await requestLog.flush();
    const id = c.req.param("id") ?? "";
    const { currency } = c.env.config.service;
    const request = await findRequestWithAttempts(database.sql, id, currency);
    return sendJson(JSON.stringify({ ...request, bodies: await bodyLog.find(id) }));
  };
}
