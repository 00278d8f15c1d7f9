import { Hono } from "hono";
import { ApiError } from "../lib/api_error.ts";
import type { Config, Route } from "../platform/config/config.ts";
import { mountAdmin } from "./admin/mount.ts";
import type { AdminDeps } from "./admin/mount.ts";
import { mountCallbacks } from "./endpoints/callbacks.ts";
import { mountContent } from "./endpoints/content.ts";
import { notReleased } from "./endpoints/create_generation.ts";
import { type OperationDeps, OPERATIONS } from "./endpoints/operations.ts";
import { noticeHeaders } from "./endpoints/retrieve_model.ts";
import type { Endpoint, Env, HttpExchange } from "./exchange.ts";
import { authenticated, type AuthenticateDeps } from "./authenticate.ts";
import { methodNotAllowed } from "./method_not_allowed.ts";
import { openapi } from "./openapi.ts";

export interface AppDeps extends AuthenticateDeps, AdminDeps, OperationDeps {
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
  const app = new Hono<Env>();
  const fallback = new Hono<Env>();
  for (const route of config.routes) mountRoute(app, fallback, route, deps);
  mountAdmin(app, fallback, deps);
  mountContent(app, fallback, deps.files);
  mountCallbacks(app, fallback, deps.tasks);
  mountDocument(app, config);
  fallback.all("/v1", authenticated(deps, "/v1/*", unknownEndpoint));
  fallback.all("/v1/*", authenticated(deps, "/v1/*", unknownEndpoint));
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

function mountRoute(app: Hono<Env>, fallback: Hono<Env>, route: Route, deps: AppDeps): void {
  const path = "/v1" + route.path.replace(/\{([^{}]*)\}/g, ":$1");
  if (route.stage === "planned") {
    const planned = authenticated(deps, route.path, () => {
      throw notReleased(route);
    });
    fallback.all(path, planned);
    fallback.all(`${path}/*`, planned);
    return;
  }
  const mounts = OPERATIONS.get(route.operation)!(deps, route);
  const byPath = Map.groupBy(mounts, (mount) => path + mount.path);
  for (const [address, methods] of byPath) {
    for (const { method, endpoint } of methods) {
      app.on(method, address, authenticated(deps, route.path, withNotice(route, endpoint)));
    }
    const allowed = methods.map(({ method }) => method);
    fallback.all(address, authenticated(deps, route.path, methodNotAllowed(allowed)));
  }
}

/** Adds the headers of a deprecated route; other endpoints are returned as they are. */
function withNotice(route: Route, endpoint: Endpoint): Endpoint {
  const headers = noticeHeaders(route);
  if (headers === undefined) return endpoint;
  return async function endpointWithNotice(c) {
    const response = await endpoint(c);
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  };
}

function unknownEndpoint(): never {
  throw new ApiError(
    "unknown_endpoint",
    "Unknown endpoint. /openapi.json lists all endpoints.",
  );
}

/** Rendered once per configuration, with the first request. */
function mountDocument(app: Hono<Env>, config: Config): void {
  let text: string | undefined;
  app.get("/openapi.json", (c) => {
    c.env.route = "/openapi.json";
    text ??= JSON.stringify(openapi(config));
    return new Response(text, { headers: { "content-type": "application/json; charset=utf-8" } });
  });
}
