import { Hono } from "hono";
import { ApiError } from "../lib/api_error.ts";
import type { Config, Route as ConfiguredRoute } from "../platform/config/config.ts";
import { type AdminAuthDeps, requireAdminToken } from "./admin/require_token.ts";
import { authenticated, type AuthenticateDeps, type RouteLabels } from "./authenticate.ts";
import { notReleased } from "./endpoints/create_generation.ts";
import { noticeHeaders } from "./endpoints/retrieve_model.ts";
import type { Endpoint, Env, HttpExchange } from "./exchange.ts";
import { methodNotAllowed } from "./method_not_allowed.ts";
import { requireFunds, requireFundsForLargeBody } from "./require_funds.ts";
import { FIXED_ROUTES, type PlacedRoute, placeOperation } from "./routes/registry.ts";
import type { ApiRoute, OperationRoute, RouteDeps } from "./routes/route.ts";

export interface AppDeps extends AuthenticateDeps, AdminAuthDeps, RouteDeps {
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
  const unknown = guard(API_KEY, labelsAt("/v1/*"), unknownEndpoint("Unknown endpoint."));
  fallback.all("/v1", unknown);
  fallback.all("/v1/*", unknown);
  const unknownAdmin = unknownEndpoint("Unknown endpoint of the admin API.");
  fallback.all("/admin/*", guard(ANY_TOKEN, labelsAt("/admin/*"), unknownAdmin));
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

/** What a request must prove. Without a scope, any admin token will do. */
type Access = Pick<ApiRoute, "auth" | "scope">;
const API_KEY: Access = { auth: "api_key" };
const ANY_TOKEN: Access = { auth: "admin_token" };

/** Lets only those requests pass that may be made. */
type Guard = (access: Access, labels: RouteLabels, endpoint: Endpoint) => Endpoint;

function guards(deps: AppDeps): Guard {
  const withToken = requireAdminToken(deps);
  const labelled = ({ route }: RouteLabels, endpoint: Endpoint): Endpoint => (c) => {
    c.env.route = route;
    return endpoint(c);
  };
  return function guard({ auth, scope = null }, labels, endpoint) {
    switch (auth) {
      case "api_key":
        return authenticated(deps, labels, endpoint);
      case "admin_token":
        return labelled(labels, withToken(endpoint, scope));
      case "metrics_token":
        return labelled(labels, withToken(endpoint, scope, deps.metricsToken));
      case "signed_url": // The handler checks the signature.
      case "none":
        return labelled(labels, endpoint);
    }
  };
}

function mountOperation(
  { app, fallback }: Routers,
  guard: Guard,
  deps: AppDeps,
  configured: ConfiguredRoute,
): void {
  const { path: route, operation, stage } = configured;
  const labels = { route, operation };
  const placed = placeOperation(configured);
  if (stage === "planned" || placed.length === 0) {
    const planned = guard(API_KEY, labels, () => {
      throw notReleased(configured);
    });
    fallback.all(routerPath(`/v1${route}`), planned);
    fallback.all(routerPath(`/v1${route}/*`), planned);
    return;
  }
  for (const { route, path } of placed) {
    const endpoint = withNotice(configured, withFunds(route, deps, route.open(deps, configured)));
    const { isCharged = false } = route;
    app.on(route.method, routerPath(path), guard(route, { ...labels, isCharged }, endpoint));
  }
  mountOtherMethods(fallback, guard, placed, () => labels);
}

function mountFixed({ app, fallback }: Routers, guard: Guard, deps: AppDeps): void {
  for (const { route, path } of FIXED_ROUTES) {
    if ("probe" in route) continue;
    app.on(route.method, routerPath(path), guard(route, labelsAt(path), route.open(deps)));
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
  guard: Guard,
  placed: readonly PlacedRoute[],
  labelsOf: (placed: PlacedRoute) => RouteLabels,
): void {
  for (const [path, same] of Map.groupBy(placed, ({ path }) => path)) {
    const [first] = same;
    const allowed = same.map(({ route }) => route.method);
    const endpoint = methodNotAllowed(allowed);
    const access: Access = { auth: first!.route.auth };
    fallback.all(routerPath(path), guard(access, labelsOf(first!), endpoint));
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
