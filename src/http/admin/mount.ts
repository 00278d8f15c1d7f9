import { timingSafeEqual } from "node:crypto";
import type { Hono } from "hono";
import { hashKey } from "../../domain/accounts/api_keys.ts";
import { ApiError } from "../../lib/api_error.ts";
import type { ConfigStore } from "../../platform/config/config_store.ts";
import type { Cluster } from "../../platform/cluster/cluster.ts";
import type { Database } from "../../platform/database/postgres.ts";
import type { TaskDeps } from "../../workflows/tasks/deps.ts";
import type { Metrics } from "../../platform/telemetry/metrics.ts";
import type { Upstreams } from "../../upstream/upstreams.ts";
import type { Webhooks } from "../../domain/webhooks/webhooks.ts";
import type { Endpoint, Env } from "../exchange.ts";
import { readBearerToken } from "../authenticate.ts";
import { methodNotAllowed } from "../method_not_allowed.ts";
import { createAccountEndpoint, listAccountsEndpoint, retrieveAccount } from "./accounts.ts";
import { type PeopleDeps, resetPassword, retrievePerson, updatePerson } from "./people.ts";
import { listProviders } from "./providers.ts";
import { reloadConfig, retrieveConfig } from "./config.ts";
import { createCredit, retrieveStatement, updatePlan, verifyLedgerEndpoint } from "./money.ts";
import { listTasksForOperator, replayTaskEndpoint, retrieveTaskForOperator } from "./tasks.ts";
import { createKeyEndpoint, listKeysEndpoint, revokeKeyEndpoint } from "./keys.ts";
import {
  listDeliveriesEndpoint,
  redeliverEndpoint,
  redeliverFailedEndpoint,
  retrieveDelivery,
} from "./webhooks.ts";

export interface AdminDeps extends PeopleDeps {
  database: Database;
  cluster: Cluster;
  configStore: ConfigStore;
  metrics: Metrics;
  upstreams: Upstreams;
  webhooks: Webhooks;
  adminToken: string;
  tasks: TaskDeps;
}

/** The admin API and the metrics, both authenticated by the admin token. */
export function mountAdmin(app: Hono<Env>, fallback: Hono<Env>, deps: AdminDeps): void {
  const authenticate = requireAdminToken(deps.adminToken);
  const calls: [method: string, path: string, endpoint: Endpoint][] = [
    ["POST", "/admin/v1/accounts", createAccountEndpoint(deps)],
    ["GET", "/admin/v1/accounts", listAccountsEndpoint(deps)],
    ["GET", "/admin/v1/accounts/:id", retrieveAccount(deps)],
    ["POST", "/admin/v1/accounts/:id/keys", createKeyEndpoint(deps)],
    ["GET", "/admin/v1/accounts/:id/keys", listKeysEndpoint(deps)],
    ["DELETE", "/admin/v1/keys/:id", revokeKeyEndpoint(deps)],
    ["POST", "/admin/v1/accounts/:id/credits", createCredit(deps)],
    ["PUT", "/admin/v1/accounts/:id/plan", updatePlan(deps)],
    ["GET", "/admin/v1/accounts/:id/statement", retrieveStatement(deps)],
    ["GET", "/admin/v1/people/:email", retrievePerson(deps)],
    ["PUT", "/admin/v1/people/:email", updatePerson(deps)],
    ["POST", "/admin/v1/people/:email/password", resetPassword(deps)],
    ["GET", "/admin/v1/ledger/verify", verifyLedgerEndpoint(deps)],
    ["GET", "/admin/v1/config", retrieveConfig(deps)],
    ["POST", "/admin/v1/config/reload", reloadConfig(deps)],
    ["GET", "/admin/v1/providers", listProviders(deps)],
    ["GET", "/admin/v1/webhooks/deliveries", listDeliveriesEndpoint(deps)],
    ["GET", "/admin/v1/webhooks/deliveries/:id", retrieveDelivery(deps)],
    ["POST", "/admin/v1/webhooks/deliveries/:id/redeliver", redeliverEndpoint(deps)],
    ["POST", "/admin/v1/webhooks/redeliver", redeliverFailedEndpoint(deps)],
    ["GET", "/admin/v1/tasks", listTasksForOperator(deps)],
    ["GET", "/admin/v1/tasks/:id", retrieveTaskForOperator(deps)],
    ["POST", "/admin/v1/tasks/:id/replay", replayTaskEndpoint(deps)],
    ["GET", "/metrics", metrics(deps)],
  ];
  for (const [method, path, endpoint] of calls) app.on(method, path, authenticate(path, endpoint));
  for (const [path, same] of Map.groupBy(calls, ([, path]) => path)) {
    fallback.all(path, authenticate(path, methodNotAllowed(same.map(([method]) => method))));
  }
  fallback.all(
    "/admin/*",
    authenticate("/admin/*", () => {
      throw new ApiError(
        "unknown_endpoint",
        "Unknown endpoint of the admin API. /openapi.json lists all endpoints.",
      );
    }),
  );
}

function requireAdminToken(token: string) {
  // Digests have equal length, so the comparison takes the same time for every input.
  const digest = (text: string) => new TextEncoder().encode(hashKey(text));
  const expected = digest(token);
  return (path: string, endpoint: Endpoint): Endpoint =>
    function adminEndpoint(c) {
      c.env.route = path;
      if (!timingSafeEqual(digest(readBearerToken(c.req.raw.headers, "admin token")), expected)) {
        throw new ApiError("invalid_api_key", "Invalid admin token: see ADMIN_TOKEN.");
      }
      return endpoint(c);
    };
}

/** GET /metrics, in Prometheus' text format. */
function metrics({ metrics: { registry, render } }: AdminDeps): Endpoint {
  return async function metrics() {
    return new Response(await render(), { headers: { "content-type": registry.contentType } });
  };
}
