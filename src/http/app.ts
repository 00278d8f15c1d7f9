import { Hono } from "hono";
import { ApiError } from "../lib/api_error.ts";
import type { Config, Route as ConfiguredRoute } from "../platform/config/config.ts";
import { requireAdminToken } from "./admin/require_token.ts";
import { authenticated, type AuthenticateDeps, type RouteLabels } from "./authenticate.ts";
import { notReleased } from "./endpoints/create_generation.ts";
import { noticeHeaders } from "./endpoints/retrieve_model.ts";
import type { Endpoint, Env, HttpExchange } from "./exchange.ts";
import { methodNotAllowed } from "./method_not_allowed.ts";
import { requireFunds, requireFundsForLargeBody } from "./require_funds.ts";
import { FIXED_ROUTES, type PlacedRoute, placeOperation } from "./routes/registry.ts";
import type { OperationRoute, RouteAuth, RouteDeps } from "./routes/route.ts";

export interface AppDeps extends AuthenticateDeps, RouteDeps {
  adminToken: string;
  /** Besides the admin token, this one reads `/metrics`. */
  metricsToken: string | undefined;
  /** Handles all paths outside the API: the web site. */
  site: (request: Request, exchange: HttpExchange) => Response | Promise<Response>;
}

/**
 * The routes of one configuration. A reload builds a new app; requests in flight stay with theirs.
 *
 * Two routers: the first has the existing endpoints only, so that a valid request meets one handler and no
 * chain. Everything else goes to the second, which tells unknown endpoints, wrong methods and planned
 * endpoints apart.
 */
export function buildApp(config: Config, deps: AppDeps): Hono<Env> {
  const routers: Routers = { app: new Hono<Env>(), fallback: new Hono<Env>() };
  const { app, fallback } = routers;
  const guard = guards(deps);
  for (const configured of config.routes) mountOperation(routers, guard, deps, configured);
  mountFixed(routers, guard, deps);
  const unknown = guard.api_key(labelsAt("/v1/*"), unknownEndpoint("Unknown endpoint."));
  fallback.all("/v1", unknown);
  fallback.all("/v1/*", unknown);
  const unknownAdmin = unknownEndpoint("Unknown endpoint of the admin API.");
  fallback.all("/admin/*", guard.admin_token(labelsAt("/admin/*"), unknownAdmin));
  fallback.notFound((c) => deps.site(c.req.raw, c.env));
  app.notFound((c) => fallback.fetch(c.req.raw, c.env));
  // Rethrown to RequestHandler, which renders every error in one place.
  for (const router of [app, fallback]) {
    router.onError((error) => {
      throw error;
    });
  }
  return app;
}

interface Routers {
  readonly app: Hono<Env>;
  readonly fallback: Hono<Env>;
}

/** Lets only those requests pass that may be made. */
type Guards = Readonly<Record<RouteAuth, (labels: RouteLabels, endpoint: Endpoint) => Endpoint>>;

function guards(deps: AppDeps): Guards {
  const { adminToken, metricsToken } = deps;
  const withToken = requireAdminToken([adminToken]);
  const withMetricsToken = requireAdminToken(
    metricsToken === undefined ? [adminToken] : [adminToken, metricsToken],
  );
  const labelled = ({ route }: RouteLabels, endpoint: Endpoint): Endpoint => (c) => {
    c.env.route = route;
    return endpoint(c);
  };
  return {
    api_key: (labels, endpoint) => authenticated(deps, labels, endpoint),
    admin_token: (labels, endpoint) => labelled(labels, withToken(endpoint)),
    metrics_token: (labels, endpoint) => labelled(labels, withMetricsToken(endpoint)),
    // The handler checks the signature.
    signed_url: labelled,
    none: labelled,
  };
}

function mountOperation(
  { app, fallback }: Routers,
  guard: Guards,
  deps: AppDeps,
  configured: ConfiguredRoute,
): void {
  const { path: route, operation, stage } = configured;
  const labels = { route, operation };
  const placed = placeOperation(configured);
  if (stage === "planned" || placed.length === 0) {
    const planned = guard.api_key(labels, () => {
      throw notReleased(configured);
    });
    fallback.all(routerPath(`/v1${route}`), planned);
    fallback.all(routerPath(`/v1${route}/*`), planned);
    return;
  }
  for (const { route, path } of placed) {
    const endpoint = withNotice(configured, withFunds(route, deps, route.open(deps, configured)));
    const { isCharged = false } = route;
    app.on(route.method, routerPath(path), guard[route.auth]({ ...labels, isCharged }, endpoint));
  }
  mountOtherMethods(fallback, guard, placed, () => labels);
}

function mountFixed({ app, fallback }: Routers, guard: Guards, deps: AppDeps): void {
  for (const { route, path } of FIXED_ROUTES) {
    if ("probe" in route) continue;
    app.on(route.method, routerPath(path), guard[route.auth](labelsAt(path), route.open(deps)));
  }
  const mounted = FIXED_ROUTES.filter(({ route }) => !("probe" in route));
  mountOtherMethods(fallback, guard, mounted, ({ path }) => labelsAt(path));
}

/** Of a route without an operation: the configuration does not move it. */
function labelsAt(path: string): RouteLabels {
  return { route: path, operation: null };
}

/** Every other method of a path is answered with 405. */
function mountOtherMethods(
  fallback: Hono<Env>,
  guard: Guards,
  placed: readonly PlacedRoute[],
  labelsOf: (placed: PlacedRoute) => RouteLabels,
): void {
  for (const [path, same] of Map.groupBy(placed, ({ path }) => path)) {
    const [first] = same;
    const allowed = same.map(({ route }) => route.method);
    const endpoint = methodNotAllowed(allowed);
    fallback.all(routerPath(path), guard[first!.route.auth](labelsOf(first!), endpoint));
  }
}

/** `/files/{file_id}` as the router has it: `/files/:file_id`. */
function routerPath(path: string): string {
  return path.replace(/\{([^{}]*)\}/g, ":$1");
}

/** A large body is read only for an account that has funds. */
function withFunds(route: OperationRoute, deps: AppDeps, endpoint: Endpoint): Endpoint {
  if (route.request === undefined) return endpoint;
  return route.isCharged ? requireFunds(deps, endpoint) : requireFundsForLargeBody(deps, endpoint);
}

/** Adds the headers of a deprecated route; other endpoints are returned as they are. */
function withNotice(route: ConfiguredRoute, endpoint: Endpoint): Endpoint {
  const headers = noticeHeaders(route);
  if (headers === undefined) return endpoint;
  return async function endpointWithNotice(c) {
    const response = await endpoint(c);
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  };
}

function unknownEndpoint(problem: string): Endpoint {
  return function unknownEndpoint() {
    throw new ApiError("unknown_endpoint", `${problem} /openapi.json lists all endpoints.`);
  };
}
