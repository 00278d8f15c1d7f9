import type { Config, Route as ConfiguredRoute } from "../../platform/config/config.ts";
import { adminAccountRoutes } from "./admin_accounts.ts";
import { adminAuditRoutes } from "./admin_audit.ts";
import { adminUsageRoutes } from "./admin_usage.ts";
import { adminMoneyRoutes } from "./admin_money.ts";
import { adminOperationRoutes } from "./admin_operation.ts";
import { adminTokenRoutes } from "./admin_tokens.ts";
import { adminWebhookRoutes } from "./admin_webhooks.ts";
import { chatRoutes } from "./chat.ts";
import { embeddingRoutes } from "./embeddings.ts";
import { fileRoutes } from "./files.ts";
import { healthRoutes } from "./health.ts";
import { messageRoutes } from "./messages.ts";
import { mediaRoutes } from "./media.ts";
import { modelRoutes } from "./models.ts";
import { requestRoutes } from "./requests.ts";
import { responseRoutes } from "./responses.ts";
import type { ApiRoute, OperationRoute, RouteArea } from "./route.ts";
import { serviceRoutes } from "./service.ts";
import { taskRoutes } from "./tasks.ts";
import { usageRoutes } from "./usage.ts";
import { webhookRoutes } from "./webhooks.ts";

/**
 * Every route of this build. Mounting, /openapi.json, the operations that a configuration may name and the
 * tables of the documentation are made from it.
 */
export const AREAS: readonly RouteArea[] = [
  modelRoutes,
  usageRoutes,
  requestRoutes,
  chatRoutes,
  responseRoutes,
  messageRoutes,
  embeddingRoutes,
  fileRoutes,
  mediaRoutes,
  taskRoutes,
  webhookRoutes,
  adminAccountRoutes,
  adminMoneyRoutes,
  adminOperationRoutes,
  adminWebhookRoutes,
  adminTokenRoutes,
  adminUsageRoutes,
  adminAuditRoutes,
  serviceRoutes,
  healthRoutes,
];

/** A route at its place in a configuration. */
export interface PlacedRoute<R extends ApiRoute = ApiRoute> {
  readonly route: R;
  /** Its whole path, with parameters in braces. */
  readonly path: string;
  /** The entry of the configuration that puts it there; null for one that is always there. */
  readonly configured: ConfiguredRoute | null;
}

const ROUTES = AREAS.flatMap(({ routes }) => routes);

function isOperationRoute(route: ApiRoute): route is OperationRoute {
  return route.operation !== undefined;
}

const OPERATION_ROUTES = ROUTES.filter(isOperationRoute);

/** The routes that the configuration does not move. */
export const FIXED_ROUTES: readonly PlacedRoute<Exclude<ApiRoute, OperationRoute>>[] = ROUTES
  .filter((route) => !isOperationRoute(route))
  .map((route) => ({ route, path: route.path, configured: null }));

/** The routes of a configuration: its operations at their configured paths, then the others. */
export function placeRoutes({ routes }: Pick<Config, "routes">): PlacedRoute[] {
  return [...routes.flatMap(placeOperation), ...FIXED_ROUTES];
}

/** The routes of one operation, or of one model type where the operation has routes for several. */
export function placeOperation(configured: ConfiguredRoute): PlacedRoute<OperationRoute>[] {
  const { operation, type } = configured;
  const routes = OPERATION_ROUTES.filter((route) =>
    route.operation === operation && (type === null || route.serves === type)
  );
  const [first] = routes;
  return routes.map((route) => ({
    route,
    path: `/v1${configured.path}${route.path.slice(first!.path.length)}`,
    configured,
  }));
}

/** The first route of each operation, or of each model type of it: what the configuration names. */
export const OPERATION_HEADS: readonly OperationRoute[] = OPERATION_ROUTES.filter((route, at) =>
  at ===
    OPERATION_ROUTES.findIndex(({ operation, serves }) =>
      operation === route.operation && serves === route.serves
    )
);
